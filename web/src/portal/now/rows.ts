/** The rows of "Calls now": what an event says in words, and which rows a filter shows. */

import type { NameOf } from '../catalog';
import { dollars, many, spanOf } from '../parts/format';
import type { IconName } from '../parts/icon';
import type { Tone } from '../parts/note';
import { shortId } from '../match/match';
import type { LiveEvent } from './live';

export interface NowRow {
  number: number;
  event: LiveEvent;
}

/** How many rows are kept. Older ones are dropped, because nobody scrolls that far. */
export const ROWS_MAX = 300;

export const FILTERS = ['all', 'refused', 'calls', 'seats', 'matches', 'nudges'] as const;
export type Filter = (typeof FILTERS)[number];

export const isRefused = (event: LiveEvent) =>
  event.kind === 'refusal' || (event.kind === 'call' && event.status >= 400);

export function passes(filter: Filter, event: LiveEvent): boolean {
  if (filter === 'all') return true;
  if (filter === 'refused') return isRefused(event);
  if (filter === 'calls') return event.kind === 'call' || event.kind === 'calls';
  const kinds = { seats: 'seat', matches: 'match', nudges: 'nudge' } as const;
  return event.kind === kinds[filter];
}

/**
 * Whether a refusal belongs to this call. The refusal's path has placeholders, such as `{seat_id}`,
 * where the call's path has ids.
 */
function isOf(refusal: LiveEvent, call: LiveEvent): boolean {
  if (refusal.kind !== 'refusal' || call.kind !== 'call') return false;
  const named = refusal.path.split('/');
  const given = call.path.split('/');
  return (
    refusal.reason === call.reason &&
    named.length === given.length &&
    named.every((part, index) => part.startsWith('{') || part === given[index])
  );
}

/**
 * Returns the rows with a new event at the front. A call takes the place of the refusal that
 * belongs to it, because the call says more.
 */
export function withEvent(rows: readonly NowRow[], event: LiveEvent, number: number): NowRow[] {
  const told = rows.find((row) => isOf(row.event, event));
  const kept = told === undefined ? rows : rows.filter((row) => row !== told);
  return [{ number, event }, ...kept].slice(0, ROWS_MAX);
}

export interface Worded {
  icon: IconName;
  tone: '' | 'good' | 'warn' | 'bad';
  title: string;
  small: string;
  tag: string;
  tagTone: Tone;
}

const SEATS: Record<string, string> = {
  pending: 'stake not confirmed yet',
  waiting: 'waits for an opponent',
  matched: 'is paired',
  ended: 'has ended',
  no_contest: 'ended without a match',
  declined: 'stake declined',
};

/** The words of an event. `nameOf`: the names of games and tiers. */
export function wordsOf(event: LiveEvent, nameOf: NameOf): Worded {
  switch (event.kind) {
    case 'call':
      return callWords(event);
    case 'refusal':
      return {
        ...worded('no', 'bad', `Refused: ${event.path}`, event.reason),
        tag: 'refused',
        tagTone: 'bad',
      };
    case 'calls':
      return worded('pulse', '', `${many(event.untold, 'more call')} in this second`, 'not listed');
    case 'seat': {
      const price = [
        nameOf(event.tierId),
        dollars(event.stakeUsdCents),
        nameOf(event.gameId),
      ].join(', ');
      const title = `${event.playerId} ${SEATS[event.status] ?? event.status}`;
      const tone = event.status === 'waiting' || event.status === 'matched' ? 'good' : '';
      return { ...worded('seat', tone, title, price), tag: event.status };
    }
    case 'match': {
      const ended = event.status !== 'started';
      const title = ended ? 'Match ended' : 'Match started';
      const small = `${shortId(event.matchId)}, ${nameOf(event.gameId)}`;
      const why = ended ? `, ${event.endReason}` : '';
      return { ...worded(ended ? 'flag' : 'pair', '', title, small + why), tag: event.status };
    }
    case 'nudge':
      return nudgeWords(event);
    case 'lost':
      return worded('warn', 'warn', `${many(event.events, 'event')} left out`, 'too fast');
    case 'away': {
      const span = spanOf(event.at - event.since);
      return worded('clock', '', `Not listening for ${span}`, 'another page was open');
    }
    case 'budget':
      return worded('pulse', '', `${event.left} of ${event.burst} calls left`, 'budget');
  }
}

function worded(icon: IconName, tone: Worded['tone'], title: string, small: string): Worded {
  return { icon, tone, title, small, tag: '', tagTone: 'plain' };
}

function callWords(event: LiveEvent & { kind: 'call' }): Worded {
  const refused = event.status >= 400;
  const why = refused ? (event.reason ?? 'malformed') : `${event.durationMs} ms`;
  return {
    icon: refused ? 'no' : 'check',
    tone: refused ? 'bad' : 'good',
    title: `${event.method} ${event.path}`,
    small: `key …${event.last4}, ${why}`,
    tag: String(event.status),
    tagTone: refused ? 'bad' : 'good',
  };
}

function nudgeWords(event: LiveEvent & { kind: 'nudge' }): Worded {
  const code = event.statusCode === null ? 'no answer' : String(event.statusCode);
  const what = event.test ? 'Test event' : `Nudge, try ${event.try}`;
  const said = event.statusCode === null ? 'gave no answer' : `answered ${code}`;
  return {
    icon: 'bell',
    tone: event.delivered ? 'good' : 'bad',
    title: `${what}: your server ${said}`,
    small: event.matchId === null ? 'about several matches' : shortId(event.matchId),
    tag: code,
    tagTone: event.delivered ? 'good' : 'bad',
  };
}

/** What to know first: the newest refusal and how many there are. */
export function summaryOf(rows: readonly NowRow[]): { calls: number; refused: NowRow[] } {
  const calls = rows.filter((row) => row.event.kind === 'call' || row.event.kind === 'refusal');
  return { calls: calls.length, refused: calls.filter((row) => isRefused(row.event)) };
}
