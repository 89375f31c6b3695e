/** Where a feed's rows and its cursor are kept. */

import type { Row } from './records.js';

/** Keeps the rows of one feed together with its cursor. Write your own over your database. */
export interface FeedStore {
  /** Returns the cursor of the last `save`, or null before the first. */
  cursor(): string | null | Promise<string | null>;

  /**
   * Keeps rows and cursor in one transaction. A row replaces the stored one of its match and
   * player, unless the stored one has a higher revision. The same row may come more than once.
   */
  save(rows: readonly Row[], cursor: string): void | Promise<void>;
}

/** Keeps a feed in memory, for tests and as an example. After a restart it is empty. */
export class MemoryStore implements FeedStore {
  #rows = new Map<string, Row>();
  #cursor: string | null = null;

  cursor(): string | null {
    return this.#cursor;
  }

  save(rows: readonly Row[], cursor: string): void {
    for (const row of rows) keep(this.#rows, row);
    this.#cursor = cursor;
  }

  /** Returns all rows. */
  rows(): Row[] {
    return [...this.#rows.values()];
  }

  /** Returns the row of a match and player. */
  row(matchId: string, playerId: string): Row | undefined {
    return this.#rows.get(nameOf({ matchId, playerId }));
  }
}

/** Returns the key of a row among the rows of a feed. */
export function nameOf(row: Pick<Row, 'matchId' | 'playerId'>): string {
  return `${row.matchId} ${row.playerId}`;
}

/** Puts a row in its place, unless a higher revision is there. */
export function keep(rows: Map<string, Row>, row: Row): void {
  const name = nameOf(row);
  const kept = rows.get(name);
  if (kept === undefined || kept.revision <= row.revision) rows.set(name, row);
}
