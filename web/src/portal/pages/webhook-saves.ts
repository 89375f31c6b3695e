/** When the address of a webhook was saved, which only the event log records. */

import { useCallback } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { useReadingOf } from '../page';
import { ATTEMPT_S } from '../parts/bounds';
import type { Entry } from '../words/events';

/** How many pages of the log are read. */
const PAGES_MAX = 10;

/** The saves of an environment, the newest first. */
export interface SaveLog {
  saves: readonly Entry[];
  /** Saves before this time, in epoch seconds, may be missing. 0: none that matters is missing. */
  reach: number;
}

export interface Saves {
  /** From this epoch second on, attempts went to the address. 0: all did, as far as is known. */
  since: number;
  /** When the address was last saved. Saving it again clears the failures. 0: not known. */
  last: number;
}

/**
 * Since when nudges have gone to `url`, and when `url` was last saved. The attempts do not name the
 * address to which they went, so the event log has to tell.
 */
export function savesOf(url: string | undefined, log: SaveLog | null): Saves {
  let since = log?.reach ?? 0;
  let last = 0;
  for (const { at, detail } of log?.saves ?? []) {
    if (detail.url !== url) break;
    since = at;
    last ||= at;
  }
  return { since, last };
}

/**
 * Reads the event log, from its end back to a save of another address, or to a save that is older
 * than every attempt that the service keeps.
 */
export async function readSaves(api: Pick<Api, 'read'>, environment: Environment) {
  const kept = Date.now() / 1000 - ATTEMPT_S;
  const saves: Entry[] = [];
  let cursor: string | null = null;
  let reach = 0;
  for (let turns = 0; turns < PAGES_MAX; turns += 1) {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { events: Entry[]; nextCursor: string | null } = await api.read(
      `events?limit=500${at}`,
    );
    saves.push(
      ...page.events.filter(
        ({ action, detail }) => action === 'webhook.saved' && detail.environment === environment,
      ),
    );
    const url = saves[0]?.detail.url;
    const isEnough = saves.some((save) => save.at < kept || save.detail.url !== url);
    cursor = page.nextCursor;
    if (isEnough || cursor === null) return { saves, reach: 0 };
    reach = page.events.at(-1)?.at ?? reach;
  }
  return { saves, reach };
}

export const useSaves = (api: Api, environment: Environment) =>
  useReadingOf<SaveLog>(
    api,
    useCallback(() => readSaves(api, environment), [api, environment]),
  );
