/** The rows of "Calls now", which stay in memory while other pages of the portal are shown. */

import type { Api, Environment } from '../api';
import type { NowRow } from './rows';
import { withEvent } from './rows';

interface Kept {
  rows: readonly NowRow[];
  /** When the page was left, in epoch seconds. */
  since: number;
}

/** By the `Api` of a sign-in and by environment, so that nobody sees what another account did. */
const kept = new WeakMap<Api, Partial<Record<Environment, Kept>>>();

const seconds = () => Math.floor(Date.now() / 1000);

/** Keeps the rows of a page that is left: at most `ROWS_MAX`, as the page itself has. */
export function keepRows(
  api: Api,
  environment: Environment,
  rows: readonly NowRow[],
  now = seconds(),
): void {
  kept.set(api, { ...kept.get(api), [environment]: { rows, since: now } });
}

/** Returns the kept rows, and before them one that says how long nobody listened. */
export function keptRows(api: Api, environment: Environment, now = seconds()): NowRow[] {
  const { rows, since } = kept.get(api)?.[environment] ?? { rows: [], since: now };
  if (rows.length === 0) return [];
  return withEvent(rows, { kind: 'away', at: now, since }, rows[0]!.number + 1);
}
