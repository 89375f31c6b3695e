/** Times and amounts as the demo page shows them. */

const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });

/** The time of day, in UTC, to the millisecond. */
export const timeOf = (atMs: number) => new Date(atMs).toISOString().slice(11, 23);

export const money = (cents: number) => dollars.format(cents / 100);

/** An amount, or the text for an amount that is not recorded yet. */
export const moneyOrOpen = (cents: number | undefined) =>
  cents === undefined ? 'open' : money(cents);
