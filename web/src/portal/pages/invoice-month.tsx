/** What the current month has so far, above the invoices, which bill whole months. */

import { useCallback } from 'preact/hooks';
import { BoldFirst, Problem, useReadingOf } from '../page';
import type { PageProps } from '../page';
import { Card } from '../parts/card';
import { linkTo } from '../routes';
import { monthSays } from '../words/invoices';
import { thisMonth } from '../words/usage';
import { readToLatest } from './usage-read';

export function MonthSoFar({ api, environment }: Pick<PageProps, 'api' | 'environment'>) {
  const read = useCallback(
    () => readToLatest(api, environment, thisMonth),
    [api, environment],
  );
  const { value, error } = useReadingOf(api, read);
  const range = value === null ? '' : `?from=${value.from}&to=${value.to}`;
  return (
    <Card
      title="This month so far"
      aside={<a href={linkTo(environment, 'usage') + range}>Usage</a>}
    >
      {error === null ? (
        <p>
          <BoldFirst parts={value === null ? ['', 'Reading …'] : monthSays(value)} />
        </p>
      ) : (
        <Problem error={error} again />
      )}
    </Card>
  );
}
