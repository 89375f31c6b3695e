/** Prices between floor and prize. Stored amounts are in US cents, typed ones in dollars. */

import { centsOf, dollars } from '../parts/format';

export interface Tier {
  tierId: string;
  name: string;
  floorUsdCents: number;
  prizeUsdCents: number;
  /** What a seat costs now. */
  entryUsdCents: number;
  /** Whether the account's price is charged. */
  inForce: boolean;
  games: string[];
  /** The price as it was set. */
  priceUsdCents?: number;
}

/** What was typed, by tier. An empty text takes the price away. */
export type Typed = Readonly<Record<string, string>>;

/** Cents as they are typed: `5.50`. */
export const plain = (cents: number) => (cents / 100).toFixed(2);

export const shownOf = (tier: Tier, typed: Typed) =>
  typed[tier.tierId] ?? (tier.priceUsdCents === undefined ? '' : plain(tier.priceUsdCents));

export interface Fault {
  says: string;
  /** The nearest text that can be saved. */
  mended: string | null;
}

/** What is wrong with the price of a tier, or null. */
export function faultOf(tier: Tier, typed: Typed): Fault | null {
  const text = shownOf(tier, typed).trim();
  if (text === '') return null;
  const cents = centsOf(text);
  const { floorUsdCents: floor, prizeUsdCents: prize } = tier;
  if (cents === null) return { says: 'Write dollars and cents, as 5.50.', mended: null };
  if (cents < floor) {
    return { says: `Below the floor. At least ${plain(floor)}.`, mended: plain(floor) };
  }
  if (cents > prize) {
    return { says: `Above the prize. At most ${plain(prize)}.`, mended: plain(prize) };
  }
  return null;
}

/** Whether a price that was set is not charged, since its tier has changed. */
export const isStale = (tier: Tier) => tier.priceUsdCents !== undefined && !tier.inForce;

/** What a seat would cost at the typed price, or what it costs now if that cannot be saved. */
export function entryOf(tier: Tier, typed: Typed): number {
  const text = shownOf(tier, typed).trim();
  if (faultOf(tier, typed) !== null) return tier.entryUsdCents;
  return text === '' ? tier.floorUsdCents : (centsOf(text) ?? tier.entryUsdCents);
}

/** The part of both stakes that is not paid out. */
export const rakeOf = (tier: Tier, entry: number) => 2 * entry - tier.prizeUsdCents;

/** Where a price lies from floor to prize, in per cent. */
export function placeOf(tier: Tier, entry: number): number {
  const room = tier.prizeUsdCents - tier.floorUsdCents;
  return room === 0 ? 0 : Math.round(((entry - tier.floorUsdCents) / room) * 100);
}

/** The whole map of prices that is to be written. */
export function pricesOf(tiers: readonly Tier[], typed: Typed): Record<string, number> {
  const prices: Record<string, number> = {};
  for (const tier of tiers) {
    const cents = centsOf(shownOf(tier, typed));
    if (cents !== null) prices[tier.tierId] = cents;
  }
  return prices;
}

/** The tiers whose typed price differs from the one that is set. */
export function changedOf(tiers: readonly Tier[], typed: Typed): readonly Tier[] {
  return tiers.filter((tier) => {
    const text = shownOf(tier, typed).trim();
    const cents = text === '' ? undefined : (centsOf(text) ?? text);
    return tier.tierId in typed && cents !== tier.priceUsdCents;
  });
}

const priceSays = (cents: number | undefined) => (cents === undefined ? 'floor' : dollars(cents));

/** Returns both prices of each tier that was typed here and set by somebody else meanwhile. */
export function collisions(were: readonly Tier[], now: readonly Tier[], typed: Typed) {
  return changedOf(now, typed).flatMap((tier) => {
    const was = were.find(({ tierId }) => tierId === tier.tierId);
    if (was?.priceUsdCents === tier.priceUsdCents) return [];
    const yours = shownOf(tier, typed).trim();
    return [
      {
        what: tier.name,
        theirs: priceSays(tier.priceUsdCents),
        yours: yours === '' ? 'floor' : dollars(centsOf(yours) ?? 0),
      },
    ];
  });
}

/** The first sentences of the page. The first part is shown in bold. */
export function answerOf(tiers: readonly Tier[], environment: string): [string, string] {
  if (tiers.length === 0) {
    return [`The platform has no tier in ${environment} yet.`, 'Ask support when it will.'];
  }
  const stale = tiers.filter(isStale);
  if (stale.length > 0) {
    const [first] = stale as [Tier];
    const more = stale.length === 1 ? '' : ` and ${stale.length - 1} more`;
    const says = `${first.name}${more}: the price is not charged since the tier has changed.`;
    return [
      says,
      `A seat costs the floor, ${dollars(first.floorUsdCents)}, until you set it again.`,
    ];
  }
  const priced = tiers.filter(({ inForce }) => inForce).length;
  if (priced === 0) return ['No tier has a price of your own.', 'Each charges its floor.'];
  if (priced === tiers.length) return ['Every tier has a price of your own.', ''];
  return [
    `${priced} of ${tiers.length} tiers have a price of your own.`,
    'The others charge their floor.',
  ];
}
