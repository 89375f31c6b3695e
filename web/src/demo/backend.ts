/** The demo page's calls of the partner's backend, which has the key. */

export interface Game {
  gameId: string;
  name: string;
}

export interface SiteState {
  games: Game[];
  players: string[];
  match: { gameId: string; matchId: string } | null;
  stakeUsdCents: number;
  /** A shell line that reads the key into $KEY. */
  keyLine: string;
}

export interface Row {
  matchId: string;
  playerId: string;
  opponentPlayerId: string | null;
  gameId: string;
  outcome: string;
  result?: string;
  endReason?: string;
  stakeUsdCents: number;
  payoutUsdCents?: number;
  refundUsdCents?: number;
  rakeUsdCents?: number;
  revision: number;
}

export interface Nudge {
  arrivedAtMs: number;
  /** Why it was refused, or null. */
  problem: string | null;
}

export interface Call {
  atMs: number;
  method: string;
  path: string;
  sent: unknown;
  status: number;
  tookMs: number;
  requestId: string | null;
  received: string;
  curl: string;
}

export interface Entry {
  number: number;
  row?: Row;
  nudge?: Nudge;
  call?: Call;
}

export interface Session {
  embedUrl: string;
  sessionToken: string;
}

/** How long the page waits after a failed request for news, in milliseconds. */
const AGAIN_MS = 1000;

export class Refused extends Error {}

/** Thrown when a match would have to be ended for a new one. `state` shows that match. */
export class StillRunning extends Error {
  readonly state: SiteState;

  constructor(state: SiteState) {
    super('a match is still running');
    this.state = state;
  }
}

async function ask<T>(path: string, body?: object): Promise<T> {
  const how = body && {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, how);
  const told = await answer.json();
  if (answer.status === 409) throw new StillRunning(told);
  if (!answer.ok) throw new Refused(told.error);
  return told;
}

export const readSiteState = () => ask<SiteState>('/play/match');

/** Begins a match. Ends the running match only if `voids` names it; else throws `StillRunning`. */
export const begin = (gameId: string, voids?: string) =>
  ask<SiteState>('/play/match', { gameId, void: voids ?? null });

export const mint = (gameId: string, player: number) =>
  ask<Session>('/play/session', { gameId, player });

/** Calls `onEntries` with what happens, for ever, from the oldest entry that is kept. */
export async function follow(onEntries: (entries: Entry[]) => void): Promise<never> {
  let after = 0;
  for (;;) {
    try {
      const news = await ask<{ entries: Entry[]; last: number }>(`/play/news?after=${after}`);
      after = news.last;
      onEntries(news.entries);
    } catch {
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}
