/** The attempts of each day, as bars. A picked day filters the list below. */

import { useState } from 'preact/hooks';
import { useQuery } from '../address';
import { ATTEMPT_DAYS } from '../parts/bounds';
import { Card } from '../parts/card';
import { Chart } from '../parts/chart';
import { longDay, plusDays, shortDay, today } from '../parts/days';
import { countOf, many } from '../parts/format';
import { attemptsByDay } from '../words/attempts';
import type { Attempt, DayOfAttempts } from '../words/attempts';

function saysOf({ day, sent, failed }: DayOfAttempts): string {
  if (sent === 0) return `${longDay(day)}: no attempt.`;
  return `${longDay(day)}: ${many(sent, 'attempt')}, ${countOf(failed)} of them failed.`;
}

export function Days({ attempts }: { attempts: readonly Attempt[] }) {
  const [query, change] = useQuery();
  const picked = query.get('from') === query.get('to') ? query.get('from') : null;
  const [pointed, point] = useState<string | null>(null);
  const last = today();
  const days = attemptsByDay(attempts, plusDays(last, 1 - ATTEMPT_DAYS), last);
  const at = days.find(({ day }) => day === picked) ?? days.at(-1)!;
  const under = days.find(({ day }) => day === pointed) ?? at;
  return (
    <Card title="Attempts a day" aside={<span class="small quiet">UTC, failed ones in red</span>}>
      <Chart
        low
        label={`Attempts a day, ${longDay(days[0]!.day)} to ${longDay(last)}`}
        bars={days.map(({ day, sent, failed }) => ({
          key: day,
          name: shortDay(day),
          value: sent,
          failed,
        }))}
        axis={countOf}
        picked={at.day}
        says={saysOf(at)}
        onPick={(day) => change({ from: day, to: day })}
        onPoint={point}
      />
      <p class="small">{saysOf(under)} Press a bar to list its attempts.</p>
    </Card>
  );
}
