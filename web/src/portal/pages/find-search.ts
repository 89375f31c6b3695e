/** Searches for matches by a text that may be a player, a reference, a key or an id. */

import { useEffect, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { many } from '../parts/format';
import type { Match, Seat } from '../match/match';

/** How many matches one search shows. */
export const SHOWN = 100;

/** How many pages one search reads, because filters may leave few matches of a page. */
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
  /** Seats that wait, and so are in no match. For the id of a seat: that seat in any state. */
  seats: Seat[];
  hasMore: boolean;
}

/** How much was found: `1 waiting seat and 2 matches`. */
export function countOfFound({ matches, seats }: Found): string {
  const counts = [
    seats.length > 0 && many(seats.length, 'waiting seat'),
    (matches.length > 0 || seats.length === 0) && many(matches.length, 'match', 'matches'),
  ];
  return counts.filter(Boolean).join(' and ');
}

interface Page {
  matches: Match[];
  hasMore: boolean;
  nextCursor: string | null;
}

interface Wanted {
  environment: Environment;
  text: string;
  /** The filters, as they follow in the query. An id is looked up whatever they are. */
  filters: string;
}

async function ask(api: Api, wanted: Wanted, kind: Kind): Promise<Found> {
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
  // The filters are about matches.
  const waiting =
    filters === ''
      ? api.read<{ seats: Seat[] }>(`seats?${query}&${kind}=${text}&limit=${SHOWN}`)
      : { seats: [] };
  const path = `matches?${query}&${kind}=${text}${filters}&limit=${filters === '' ? SHOWN : 500}`;
  const matches: Match[] = [];
  let cursor: string | null = null;
  let turns = 0;
  do {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await api.read<Page>(path + at);
    matches.push(...page.matches);
    cursor = page.nextCursor;
    turns += 1;
  } while (cursor !== null && matches.length < SHOWN && turns < PAGES_MAX);
  const hasMore = cursor !== null || matches.length > SHOWN;
  const { seats } = await waiting;
  return { kind, matches: matches.slice(0, SHOWN), seats, hasMore };
}

/** Returns what each meaning of a text finds, without the meanings that find nothing. */
async function search(api: Api, wanted: Wanted): Promise<Found[]> {
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
  /** What the other environment has. It is searched only if this one has nothing. */
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
