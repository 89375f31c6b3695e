/** What the page shows of the news: the newest rows, nudges and calls, computed as one value. */

import type { Call, Entry, Nudge, Row } from './backend';

const ROWS_MAX = 24;
const NUDGES_MAX = 8;
const CALLS_MAX = 60;

export interface News {
  rows: Row[];
  nudges: Nudge[];
  calls: Call[];
  /** How many rows at the top arrived with the last answer that brought rows. */
  fresh: number;
}

export const NOTHING: News = { rows: [], nudges: [], calls: [], fresh: 0 };

/** Returns the news with further entries. A new revision of a row takes the old one's place. */
export function withEntries(news: News, entries: Entry[]): News {
  const rows = new Map<string, Row>();
  const nudges: Nudge[] = [];
  const calls: Call[] = [];
  for (const { row, nudge, call } of entries.toReversed()) {
    const key = row && `${row.matchId} ${row.playerId}`;
    if (row && key && !rows.has(key)) rows.set(key, row);
    if (nudge) nudges.push(nudge);
    if (call) calls.push(call);
  }
  const older = news.rows.filter((row) => !rows.has(`${row.matchId} ${row.playerId}`));
  return {
    rows: [...rows.values(), ...older].slice(0, ROWS_MAX),
    nudges: [...nudges, ...news.nudges].slice(0, NUDGES_MAX),
    calls: [...calls, ...news.calls].slice(0, CALLS_MAX),
    fresh: rows.size > 0 ? rows.size : news.fresh,
  };
}
