/** The days that usage is asked for: how they are chosen, and why a choice cannot be shown. */

import type { Refused } from '../api';
import { DAYS_MAX, FINAL_AFTER_MIN } from '../parts/bounds';
import { Button } from '../parts/button';
import { daysIn, shortDay } from '../parts/days';
import { Choice, Day } from '../parts/filters';
import { Note } from '../parts/note';
import { lastDays, thisMonth } from '../words/usage';
import type { Range } from '../words/usage';
import type { Change, View } from './usage';

/** What is said of a refused range, by the reason of the refusal. */
export const RANGE_REFUSALS: Readonly<Record<string, string>> = {
  day_not_final:
    `A day is final ${FINAL_AFTER_MIN} minutes after it ends, once all its money is recorded. ` +
    'The latest is ',
  range_backwards: 'The first day is after the last one.',
  range_too_wide: `A range has at most ${DAYS_MAX} days.`,
  range_too_expensive: 'These days have more seats than one summary reads. Choose fewer days.',
};

const SPANS: readonly (readonly [string, string])[] = [
  ['7', '7 days'],
  ['14', '14 days'],
  ['month', 'Month'],
  [String(DAYS_MAX), `${DAYS_MAX} days`],
];

const spanOf = (name: string, latest: string): Range =>
  name === 'month' ? thisMonth(latest) : lastDays(latest, Number(name));

function chosen(range: Range | null, latest: string | null): string {
  if (range === null || latest === null || range.to !== latest) return '';
  return SPANS.find(([name]) => spanOf(name, latest).from === range.from)?.[0] ?? '';
}

interface LineProps {
  view: View;
  range: Range | null;
  latest: string | null;
  wrong: boolean;
  change: Change;
}

export function RangeLine({ view, range, latest, wrong, change }: LineProps) {
  const choose = (name: string) => {
    if (latest !== null) change({ ...spanOf(name, latest), pick: null });
  };
  return (
    <div class="row">
      <Choice<View>
        label="What is counted"
        choices={[
          ['day', 'By day'],
          ['tier', 'By tier (seats)'],
        ]}
        value={view}
        onChoose={(name) => change({ by: name === 'day' ? null : name })}
      />
      <span class="grow" />
      <Choice label="Range" choices={SPANS} value={chosen(range, latest)} onChoose={choose} />
      {range !== null && (
        <div class="row">
          <Day label="From" value={range.from} onChoose={(from) => change({ ...range, from })} />
          <Day
            label="To"
            value={range.to}
            wrong={wrong}
            onChoose={(to) => change({ ...range, to })}
          />
        </div>
      )}
    </div>
  );
}

interface WrongProps {
  refused: Refused;
  range: Range | null;
  change: Change;
}

/** Why a range cannot be shown, and the nearest one that can. */
export function WrongRange({ refused, range, change }: WrongProps) {
  const latest = String(refused.told.latestDay ?? '');
  const late = refused.reason === 'day_not_final' && latest !== '' && range !== null;
  const mended: Range | null = !late
    ? null
    : range.from <= latest
      ? { from: range.from, to: latest }
      : lastDays(latest, daysIn(range.from, range.to));
  return (
    <Note
      tone="warn"
      icon="clock"
      alert
      act={
        mended !== null && (
          <Button small onPress={() => change({ ...mended, pick: null })}>
            Show up to {shortDay(latest)}
          </Button>
        )
      }
    >
      {late && <strong>{shortDay(range.to)} is not final. </strong>}
      {RANGE_REFUSALS[refused.reason]}
      {late && `${shortDay(latest)}.`}
    </Note>
  );
}
