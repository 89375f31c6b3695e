/** The figures of usage and of the seat summary, and what they say. */

import { daysIn, longDay, plusDays, shortDay } from '../parts/days';
import { countOf, dollars } from '../parts/format';

const DAYS_AT_FIRST = 14;

export interface Figures {
  matches: number;
  seats: number;
  noContests: number;
  stakesUsdCents: number;
  payoutsUsdCents: number;
  refundsUsdCents: number;
  rakeUsdCents: number;
}

export interface UsageDay extends Figures {
  day: string;
}

export interface Usage {
  from: string;
  to: string;
  latestDay: string;
  days: UsageDay[];
  totals: Figures;
}

export interface SeatFigures {
  seats: number;
  refunded: number;
  stakesUsdCents: number;
  payoutsUsdCents: number;
  refundsUsdCents: number;
  rakeUsdCents: number;
}

export interface SeatSummary {
  from: string;
  to: string;
  latestDay: string;
  rows: (SeatFigures & { gameId: string; tierId: string })[];
  totals: SeatFigures;
}

export interface Range {
  from: string;
  to: string;
}

/** Returns the range of the last days up to the latest final one. */
export const lastDays = (latest: string, days: number): Range => ({
  from: plusDays(latest, 1 - days),
  to: latest,
});

export const firstRange = (latest: string) => lastDays(latest, DAYS_AT_FIRST);

/** Returns the month of the latest final day, up to it. */
export const thisMonth = (latest: string): Range => ({
  from: `${latest.slice(0, 6)}01`,
  to: latest,
});

/** Returns the range of equal length that ends just before a range. */
export function before({ from, to }: Range): Range {
  return { from: plusDays(from, -daysIn(from, to)), to: plusDays(from, -1) };
}

export type Measure = 'matches' | 'seats' | 'rakeUsdCents';

export const MEASURES: readonly (readonly [Measure, string])[] = [
  ['matches', 'Matches'],
  ['seats', 'Seats'],
  ['rakeUsdCents', 'Rake'],
];

/** A value as the axis shows it. */
export function axisOf(measure: Measure, value: number): string {
  if (measure !== 'rakeUsdCents') return countOf(value);
  return value % 100 === 0 ? `$${countOf(value / 100)}` : dollars(value);
}

export function valueOf(measure: Measure, value: number): string {
  if (measure === 'rakeUsdCents') return `${dollars(value)} of rake`;
  const noun = measure === 'matches' ? 'match' : 'seat';
  const more = measure === 'matches' ? 'matches' : 'seats';
  return `${countOf(value)} ${value === 1 ? noun : more}`;
}

/** How the picked day compares with the others, such as `, the most of these days`, or nothing. */
function placeOf(days: readonly UsageDay[], picked: UsageDay, measure: Measure): string {
  if (days.length < 3 || picked[measure] === 0) return '';
  const values = days.map((day) => day[measure]);
  const value = picked[measure];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least === most) return '';
  if (value === most) return ', the most of these days';
  if (value === least) return ', the least of these days';
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const apart = Math.round((value / mean - 1) * 100);
  if (apart === 0) return ', as on an average day';
  return `, ${Math.abs(apart)} % ${apart > 0 ? 'above' : 'below'} the average`;
}

/** The picked bar as a sentence, with its day separate. */
export function barSays(days: readonly UsageDay[], picked: UsageDay, measure: Measure) {
  const said = valueOf(measure, picked[measure]) + placeOf(days, picked, measure);
  return { day: longDay(picked.day), said: `${said}.` };
}

/** How a measure of a period compares with the period before it. */
function comparedWith(
  now: Figures,
  was: Figures | null,
  days: number,
  measure: Measure,
): string {
  const span = days === 1 ? 'the day before' : `the ${days} days before`;
  if (was === null) return '';
  if (was[measure] === 0) return now[measure] === 0 ? '' : `, and none in ${span}`;
  const change = Math.round((now[measure] / was[measure] - 1) * 100);
  const money = measure === 'rakeUsdCents';
  if (change === 0) return `, as ${money ? 'much' : 'many'} as in ${span}`;
  const less = money ? 'less' : 'fewer';
  return `, ${Math.abs(change)} % ${change > 0 ? 'more' : less} than in ${span}`;
}

/** The sum of a measure over the days, its mean, and how it compares with the days before. */
export function totalSays(usage: Usage, earlier: Usage | null, measure: Measure) {
  const { totals, days } = usage;
  const mean = valueOf(measure, Math.round(totals[measure] / days.length));
  const compared = comparedWith(totals, earlier?.totals ?? null, days.length, measure);
  const each = days.length === 1 ? '' : `. ${mean} a day on average`;
  const rest = `in ${rangeSays(usage)}${compared}${each}.`;
  return { sum: valueOf(measure, totals[measure]), rest };
}

/** The range in words: `14 days`, `20 Nov`. */
export function rangeSays({ from, to }: Range): string {
  return from === to ? shortDay(from) : `${daysIn(from, to)} days`;
}
