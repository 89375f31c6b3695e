/** Reads usage up to the latest final day, which is rarely older than yesterday. */

import { Refused } from '../api';
import type { Api, Environment } from '../api';
import { latestFinal } from '../parts/days';
import type { Range, Usage } from '../words/usage';

/** Returns the usage of the range that `rangeOf` returns for the latest final day. */
export async function readToLatest(
  api: Api,
  environment: Environment,
  rangeOf: (latest: string) => Range,
): Promise<Usage> {
  const read = (latest: string) => {
    const { from, to } = rangeOf(latest);
    return api.read<Usage>(`usage/${environment}?from=${from}&to=${to}`);
  };
  try {
    return await read(latestFinal());
  } catch (error) {
    const latest = error instanceof Refused ? error.told.latestDay : undefined;
    if (typeof latest !== 'string') throw error;
    return read(latest);
  }
}
