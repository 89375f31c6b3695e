/** Reads a list of the admin API page by page. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../api';
import { useReadWithAll, useRetry } from '../page';

/** How many entries of a list are kept. The page says so if there are more. */
export const ENTRIES_MAX = 10_000;
/** Entries of a page unless the caller asks for fewer: the most that the service sends at once. */
export const PAGE = 500;
/**
 * How many pages one read takes, at most. It takes several where filters leave few entries of a
 * page, or none, and when a long list is read again.
 */
const PAGES_MAX = 10;

interface Page {
  nextCursor: string | null;
}

export interface List<T> {
  /** null until the first page is there. */
  entries: readonly T[] | null;
  /** Whether no more can be read: these are all, or as many as are kept. */
  whole: boolean;
  error: unknown;
  more(): void;
  /**
   * Reads the list again from its start: as many entries as it has, and if the last read failed,
   * also the entries that it should have added. Does nothing while a read is under way.
   */
  readAgain(): Promise<void>;
}

/**
 * Reads `path`, whose answers have their entries under `name`. `all`: reads on to the end, for a
 * search over all of them. `size`: how many entries are read at once. Reads again after a failure,
 * as `useReadingOf` does.
 */
export function useList<T>(
  api: Api,
  path: string,
  name: string,
  all: boolean,
  size = PAGE,
): List<T> {
  const [entries, setEntries] = useState<readonly T[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const turn = useRef(0);
  const now = useRef({ busy: false, wanted: size });
  const read = useCallback(
    async (begun: readonly T[], after: string | null, wanted: number) => {
      turn.current += 1;
      const mine = turn.current;
      now.current = { busy: true, wanted };
      try {
        const glue = path.includes('?') ? '&' : '?';
        let [next, from, turns] = [begun, after, 0];
        do {
          const at = from === null ? '' : `&cursor=${encodeURIComponent(from)}`;
          const page: Page & Record<string, T[]> = await api.read(
            `${path}${glue}limit=${size}${at}`,
          );
          if (mine !== turn.current) return;
          next = [...next, ...(page[name] ?? [])].slice(0, ENTRIES_MAX);
          from = page.nextCursor;
          turns += 1;
        } while (from !== null && next.length < wanted && turns < PAGES_MAX);
        now.current.wanted = next.length;
        setEntries(next);
        setCursor(next.length < ENTRIES_MAX ? from : null);
        setError(null);
      } catch (failed) {
        if (mine === turn.current) setError(failed);
      } finally {
        if (mine === turn.current) now.current.busy = false;
      }
    },
    [api, path, name, size],
  );
  const readAgain = useCallback(async () => {
    if (!now.current.busy) await read([], null, Math.max(now.current.wanted, size));
  }, [read]);
  useEffect(() => {
    setEntries(null);
    void read([], null, size);
  }, [read]);
  const more = () => {
    if (entries === null || cursor === null || error !== null) return;
    void read(entries, cursor, entries.length + size);
  };
  useEffect(() => {
    if (all) more();
  }, [all, cursor, error]);
  useRetry(error, readAgain);
  useReadWithAll(readAgain, error !== null);
  return { entries, whole: entries !== null && cursor === null, error, more, readAgain };
}
