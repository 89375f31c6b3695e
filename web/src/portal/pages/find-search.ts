/** Searches for matches by a text that may be a player, a reference, a key or an id. */

import { useEffect, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { many } from '../parts/format';
import { countOfSeats } from '../match/match';
import type { Match, Seat } from '../match/match';

/** How many matches, and how many seats, one search shows. */
export const SHOWN = 100;

/** How many pages one search reads, because a page may have few entries, or none. */
const PAGES_MAX = 10;

/** What a text may be, in the order in which the answers are preferred. */
export const KINDS = [
  ['playerId', 'a player'],
  ['partnerRef', 'your reference'],
  ['idempotencyKey', 'an idempotency key'],
] as const;

export type Kind = (typeof KINDS)[number][0] | 'seatId' | 'matchId';

export interface Found {
  kind: Kind;
  matches: Match[];
  /** Seats that are in no match yet. For the id of a seat: that seat in any state. */
  seats: Seat[];
  hasMore: boolean;
}

/** How much was found: `1 waiting seat and 2 matches`. */
export function countOfFound({ kind, matches, seats, hasMore }: Found): string {
  if (kind === 'seatId') return 'a seat';
  const counts = [
    countOfSeats(seats),
    (matches.length > 0 || seats.length === 0) && many(matches.length, 'match', 'matches'),
  ];
  return (hasMore ? 'at least ' : '') + counts.filter(Boolean).join(' and ');
}

type Reader = Pick<Api, 'read'>;

interface Wanted {
  environment: Environment;
  text: string;
  /** The filters, as the query of the call has them. An id is looked up whatever they are. */
  filters: string;
}

interface Listed<T> {
  entries: T[];
  hasMore: boolean;
}

/** The first entries of a list, whose answers have them under `name`. */
async function listed<T>(api: Reader, path: string, name: string): Promise<Listed<T>> {
  const entries: T[] = [];
  let cursor: string | null = null;
  let turns = 0;
  do {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Record<string, T[]> & { nextCursor: string | null } = await api.read(path + at);
    entries.push(...(page[name] ?? []));
    cursor = page.nextCursor;
    turns += 1;
  } while (cursor !== null && entries.length < SHOWN && turns < PAGES_MAX);
  return { entries: entries.slice(0, SHOWN), hasMore: cursor !== null || entries.length > SHOWN };
}

async function ask(api: Reader, wanted: Wanted, kind: Kind): Promise<Found> {
  const query = `environment=${wanted.environment}`;
  const text = encodeURIComponent(wanted.text);
  if (kind === 'matchId') {
    const life = await api.read<{ match: Match }>(`matches/${text}?${query}`);
    return { kind, matches: [life.match], seats: [], hasMore: false };
  }
  if (kind === 'seatId') {
    const seat = await api.read<Seat>(`seats/${text}?${query}`);
    return { kind, matches: [], seats: [seat], hasMore: false };
  }
  const { filters } = wanted;
  const path = `matches?${query}&${kind}=${text}${filters}&limit=${filters === '' ? SHOWN : 500}`;
  // The filters are about matches.
  const none: Listed<Seat> = { entries: [], hasMore: false };
  const [matches, seats] = await Promise.all([
    listed<Match>(api, path, 'matches'),
    filters === ''
      ? listed<Seat>(api, `seats?${query}&${kind}=${text}&limit=${SHOWN}`, 'seats')
      : none,
  ]);
  return {
    kind,
    matches: matches.entries,
    seats: seats.entries,
    hasMore: matches.hasMore || seats.hasMore,
  };
}

/** Returns what each meaning of a text finds, without the meanings that find nothing. */
export async function search(api: Reader, wanted: Wanted): Promise<Found[]> {
  const kinds: readonly Kind[] = wanted.text.startsWith('mat_')
    ? ['matchId']
    : wanted.text.startsWith('sea_')
      ? ['seatId']
      : KINDS.map(([kind]) => kind);
  const answers = await Promise.all(
    kinds.map((kind) =>
      ask(api, wanted, kind).catch((error: unknown) => {
        if ((error as { reason?: string }).reason?.endsWith('_not_found')) return null;
        throw error;
      }),
    ),
  );
  return answers.filter(
    (found): found is Found => found !== null && found.matches.length + found.seats.length > 0,
  );
}

export interface Searched {
  text: string;
  here: Found[];
  /**
   * What the other environment has. It is searched only if this one has nothing and no filter is
   * set.
   */
  there: Found[];
}

export const otherOf = (environment: Environment): Environment =>
  environment === 'test' ? 'live' : 'test';

export function useSearch(api: Api, { environment, text, filters }: Wanted) {
  const [searched, set] = useState<Searched | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let wanted = true;
    set(null);
    setError(null);
    const look = async () => {
      const here = await search(api, { environment, text, filters });
      const there =
        here.length > 0 || filters !== ''
          ? []
          : await search(api, { environment: otherOf(environment), text, filters });
      if (wanted) set({ text, here, there });
    };
    if (text !== '') look().catch((failed: unknown) => wanted && setError(failed));
    return () => {
      wanted = false;
    };
  }, [api, environment, text, filters]);
  return { searched, error };
}
