/** What needs Node: a store in a file. */

import { open, readFile, rename } from 'node:fs/promises';
import { keep, nameOf, type FeedStore } from './feed.js';
import type { Row } from './records.js';

/**
 * Keeps a feed in a JSON file of its own. Rows and cursor are replaced together: a new file is
 * written, flushed, and renamed over the old one.
 *
 * It is meant for small programs, since each `save` writes everything. Use one file for each
 * environment, and one process for each file.
 */
export class FileStore implements FeedStore {
  readonly #path: string;
  #rows = new Map<string, Row>();
  #cursor: string | null = null;
  #loaded: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async cursor(): Promise<string | null> {
    await this.#load();
    return this.#cursor;
  }

  async save(rows: readonly Row[], cursor: string): Promise<void> {
    await this.#load();
    const kept = new Map(this.#rows);
    for (const row of rows) keep(kept, row);
    const file = await open(`${this.#path}.new`, 'w');
    try {
      await file.writeFile(JSON.stringify({ cursor, rows: [...kept.values()] }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.#path}.new`, this.#path);
    this.#rows = kept;
    this.#cursor = cursor;
  }

  /** Returns all rows. */
  async rows(): Promise<Row[]> {
    await this.#load();
    return [...this.#rows.values()];
  }

  /** Returns the row of a match and player. */
  async row(matchId: string, playerId: string): Promise<Row | undefined> {
    await this.#load();
    return this.#rows.get(nameOf({ matchId, playerId }));
  }

  #load(): Promise<void> {
    this.#loaded ??= this.#read();
    return this.#loaded;
  }

  async #read(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const kept = JSON.parse(text) as { cursor: string; rows: Row[] };
    this.#cursor = kept.cursor;
    for (const row of kept.rows) keep(this.#rows, row);
  }
}
