/** The matches of the last final days, as bars. */

import { useCallback, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { useReadingOf } from '../page';
import { Card } from '../parts/card';
import { Chart } from '../parts/chart';
import { longDay, shortDay } from '../parts/days';
import { countOf } from '../parts/format';
import { linkTo } from '../routes';
import { barSays, firstRange } from '../words/usage';
import type { Usage } from '../words/usage';
import { readToLatest } from './usage-read';

export function useDays(api: Api, environment: Environment) {
  return useReadingOf(
    api,
    useCallback(() => readToLatest(api, environment, firstRange), [api, environment]),
  );
}

export function LastDays({ usage, environment }: { usage: Usage; environment: Environment }) {
  const [picked, pick] = useState<string | null>(null);
  const [pointed, point] = useState<string | null>(null);
  const { days } = usage;
  const at = days.find(({ day }) => day === picked) ?? days.at(-1)!;
  const under = days.find(({ day }) => day === pointed) ?? at;
  const says = (of: typeof at) => {
    const { day, said } = barSays(days, of, 'matches');
    return `${day}: ${said}`;
  };
  return (
    <Card title="Matches a day" aside={<a href={linkTo(environment, 'usage')}>Usage</a>}>
      <Chart
        low
        label={`Matches a day, ${longDay(usage.from)} to ${longDay(usage.to)}`}
        bars={days.map(({ day, matches }) => ({ key: day, name: shortDay(day), value: matches }))}
        axis={countOf}
        picked={at.day}
        says={says(at)}
        onPick={pick}
        onPoint={point}
      />
      <p class="small">{says(under)}</p>
    </Card>
  );
}
