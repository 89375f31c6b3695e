/** Usage by day: a chart of one measure, and the table with all of them. */

import { useState } from 'preact/hooks';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Chart } from '../parts/chart';
import { save } from '../parts/csv';
import { longDay, shortDay } from '../parts/days';
import { Choice } from '../parts/filters';
import { axisOf, barSays, MEASURES, totalSays } from '../words/usage';
import type { Figures, Measure, Usage } from '../words/usage';
import type { Change } from './usage';
import { Cells, Heads, valuesOf } from './usage-figures';
import type { Columns } from './usage-figures';

const COLUMNS: Columns<keyof Figures> = [
  ['matches', 'Matches'],
  ['seats', 'Seats'],
  ['noContests', 'No contest'],
  ['stakesUsdCents', 'Stakes'],
  ['payoutsUsdCents', 'Payouts'],
  ['refundsUsdCents', 'Refunds'],
  ['rakeUsdCents', 'Rake'],
];

export function KeepDays({ usage }: { usage: Usage }) {
  const press = () => {
    const heads = ['day', ...COLUMNS.map(([, head]) => head)];
    const rows = usage.days.map((day) => [day.day, ...valuesOf(COLUMNS, day)]);
    save(`usage-${usage.from}-${usage.to}.csv`, [heads, ...rows]);
  };
  return (
    <Button icon="save" onPress={press}>
      CSV
    </Button>
  );
}

interface ByDayProps {
  usage: Usage;
  /** The range of equal length before it. */
  earlier: Usage | null;
  query: URLSearchParams;
  change: Change;
}

export function ByDay({ usage, earlier, query, change }: ByDayProps) {
  const [pointed, point] = useState<string | null>(null);
  const asked = query.get('of');
  const measure: Measure = MEASURES.find(([name]) => name === asked)?.[0] ?? 'matches';
  const { days } = usage;
  const picked = days.find(({ day }) => day === query.get('pick')) ?? days.at(-1)!;
  const { day, said } = barSays(days, picked, measure);
  const under = days.find((each) => each.day === pointed) ?? picked;
  const shown = barSays(days, under, measure);
  const total = totalSays(usage, earlier, measure);
  const name = MEASURES.find(([each]) => each === measure)![1];
  return (
    <>
      <Card
        title={`${name} a day`}
        aside={
          <Choice
            label="Chart of"
            choices={MEASURES}
            value={measure}
            onChoose={(of) => change({ of })}
          />
        }
      >
        <p class="totals">
          <strong>{total.sum}</strong> <span class="quiet">{total.rest}</span>
        </p>
        <Chart
          label={`${name} a day, ${longDay(usage.from)} to ${longDay(usage.to)}`}
          bars={days.map((each) => ({
            key: each.day,
            name: shortDay(each.day),
            value: each[measure],
          }))}
          axis={(value) => axisOf(measure, value)}
          picked={picked.day}
          says={`${day}: ${said}`}
          onPick={(pick) => change({ pick })}
          onPoint={point}
        />
        <p class="small" data-picked={picked.day}>
          <strong>{shown.day}</strong>: {shown.said}
        </p>
      </Card>
      <DayTable usage={usage} picked={picked.day} />
    </>
  );
}

function DayTable({ usage, picked }: { usage: Usage; picked: string }) {
  return (
    <Card
      flush
      foot="Stakes are payouts, refunds and rake together, in every row and in the total."
    >
      <div class="scroll" tabIndex={0} role="region" aria-label="Usage by day">
        <table class="t">
          <thead>
            <tr>
              <th scope="col">Day, UTC</th>
              <Heads columns={COLUMNS} />
            </tr>
          </thead>
          <tbody>
            {usage.days.map((day) => (
              <tr key={day.day} class={day.day === picked ? 'on' : ''}>
                <th scope="row">{shortDay(day.day)}</th>
                <Cells columns={COLUMNS} figures={day} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              <Cells columns={COLUMNS} figures={usage.totals} />
            </tr>
          </tfoot>
        </table>
      </div>
    </Card>
  );
}
