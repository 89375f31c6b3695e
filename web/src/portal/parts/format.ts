/** Money, times and counts in words. Times are in UTC. */

const money = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const count = new Intl.NumberFormat('en-US');
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const minute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const short = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const second = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** US cents as dollars: `$1,902.40`. */
export const dollars = (cents: number) => money.format(cents / 100);

/** Returns the cents that somebody has typed in dollars, or null if that is no amount. */
export function centsOf(typed: string): number | null {
  const found = /^\$?(\d{1,9})(?:\.(\d{1,2}))?$/.exec(typed.trim().replaceAll(',', ''));
  return found === null ? null : Number(found[1]) * 100 + Number((found[2] ?? '').padEnd(2, '0'));
}

export const countOf = (value: number) => count.format(value);

/** A count with its noun: `1 match`, `3 matches`. */
export const many = (value: number, one: string, more = `${one}s`) =>
  `${countOf(value)} ${value === 1 ? one : more}`;

export const dayOf = (seconds: number) => day.format(seconds * 1000);

/** A time in UTC, or `none` if there is no time. */
export const timeOf = (seconds: number | undefined, none = '') =>
  seconds === undefined ? none : `${minute.format(seconds * 1000)} UTC`;

const hour = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });

/**
 * A time in a column whose head names UTC: `27 Nov, 17:38`, with its year if that is another one
 * than the year of `now`. Both are in epoch seconds.
 */
export function shortTimeOf(seconds: number, now = Date.now() / 1000): string {
  const [then, today] = [new Date(seconds * 1000), new Date(now * 1000)];
  const date = then.getUTCFullYear() === today.getUTCFullYear() ? short : day;
  return `${date.format(then)}, ${hour.format(then)}`;
}

/** The time of day with its seconds: `02:41:07`. */
export const clockOf = (seconds: number) => second.format(seconds * 1000);

const full = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});
const local = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** A time in full: `23 Nov 2026, 14:20:16 UTC`. */
export const fullTimeOf = (seconds: number) => `${full.format(seconds * 1000)} UTC`;

/** A time where the reader is, with the name of the zone: `23 Nov, 15:20 CET`. */
export const localTimeOf = (seconds: number) => local.format(seconds * 1000);

/** A time with its seconds, for a log: `22 Nov, 02:41:07`. */
export const momentOf = (seconds: number) =>
  `${short.format(seconds * 1000)}, ${clockOf(seconds)}`;

const STEPS = [
  [86400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** How long a span of seconds is, in its largest unit: `4 minutes`. */
export function spanOf(seconds: number): string {
  const [size, unit] = STEPS.find(([step]) => seconds >= step) ?? [1, 'second'];
  return many(Math.floor(Math.max(0, seconds) / size), unit);
}

/** How long ago a time was: `4 minutes ago`. */
export function agoOf(seconds: number, now = Date.now() / 1000): string {
  const span = now - seconds;
  return span < 5 ? 'just now' : `${spanOf(span)} ago`;
}
