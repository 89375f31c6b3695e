/** The shapes of matches in the admin API, and their words. */

import { dollars, many } from '../parts/format';

export interface MatchSeat {
  seatId: string;
  playerId: string;
  stakeUsdCents: number;
  result?: 'won' | 'lost' | 'drawn';
  score?: number;
  payoutUsdCents?: number;
  refundUsdCents?: number;
  rakeUsdCents?: number;
  partnerRef?: string;
}

export interface Pairing {
  rule: string;
  waitedSeconds: number;
  begins?: string;
  [detail: string]: unknown;
}

export interface Match {
  matchId: string;
  environment: 'test' | 'live';
  gameId: string;
  tierId: string;
  status: 'started' | 'ended' | 'no_contest';
  prizeUsdCents: number;
  seats: MatchSeat[];
  endReason?: string;
  startedAt?: number;
  endedAt?: number;
  pairing?: Pairing;
}

export interface Seat {
  seatId: string;
  playerId: string;
  status: string;
  stakeUsdCents: number;
  prizeUsdCents: number;
  seatedAt: number;
  idempotencyKey: string;
  gameId: string;
  tierId: string;
  matchId: string | null;
  stakeStatus: 'pending' | 'confirmed' | 'declined' | 'refunded';
  expiresAt?: number;
  heldBack?: string;
  partnerRef?: string;
}

export interface LedgerLine {
  seq: number;
  at: number;
  kind: 'charge' | 'prize' | 'refund' | 'rake';
  debit: string;
  credit: string;
  seatId: string;
  amountUsdCents: number;
}

export interface Move {
  ply: number;
  side: 0 | 1;
  move: string;
  atMs: number;
}

export interface Nudge {
  attemptId: string;
  nudgeId: string;
  at: number;
  try: number;
  delivered: boolean;
  resend: boolean;
  durationMs: number;
  responseBody: string;
  statusCode?: number;
  error?: string;
}

/** All that is known of a match. */
export interface Life {
  match: Match;
  seats: Seat[];
  ledger: LedgerLine[];
  moves: Move[];
  nudges: Nudge[];
  /** The game's state before the first move and after each, where it was asked for. */
  states?: unknown[];
}

const ENDED: Record<string, string> = {
  completed: 'by the rules of the game',
  resigned: 'the other player gave up',
  forfeit_timeout: 'a clock ran out',
  decided_by_test_key: 'your server decided it with a test key',
  no_opponent: 'no other player came in time',
  cancelled: 'your server took the seat back',
  both_absent: 'neither player came',
  account_inactive: 'the account was switched off',
  platform_void: 'the platform voided it',
  emergency_stop: 'an emergency stop ended it',
};

/** Why a match has ended, as half a sentence. */
export const whyEnded = (match: Match) => ENDED[match.endReason ?? ''] ?? match.endReason ?? '';

export const winnerOf = (match: Match) => match.seats.find((seat) => seat.result === 'won') ?? null;

/** Whether the money of every seat is recorded. */
export const isPaid = (match: Match) =>
  match.seats.every((seat) => seat.rakeUsdCents !== undefined);

/** The state or the result of a match, in a few words. */
export function headline(match: Match): string {
  const names = match.seats.map((seat) => seat.playerId);
  const [first = '', second] = names;
  if (second === undefined) {
    return match.endReason === 'no_opponent'
      ? `${first} found no opponent`
      : `${first} had no opponent yet`;
  }
  if (match.status === 'started') return `${first} plays ${second}`;
  const winner = winnerOf(match);
  if (winner !== null) {
    const loser = names.find((name) => name !== winner.playerId) ?? '';
    return `${winner.playerId} won against ${loser}`;
  }
  const drawn = match.status === 'ended';
  return drawn ? `${first} and ${second} drew` : `${first} against ${second} did not count`;
}

/** What was paid to whom, as a sentence without its full stop. */
export function moneySaid(match: Match): string {
  if (match.status === 'started') {
    const stakes = match.seats.map((seat) => dollars(seat.stakeUsdCents)).join(' and ');
    return `The stakes of ${stakes} are held; the prize is ${dollars(match.prizeUsdCents)}`;
  }
  if (!isPaid(match)) return 'Its money is not recorded yet';
  const winner = winnerOf(match);
  if (winner !== null) {
    return `${dollars(winner.payoutUsdCents ?? 0)} was paid to ${winner.playerId}`;
  }
  const back = match.seats.reduce((sum, seat) => sum + (seat.refundUsdCents ?? 0), 0);
  return `${dollars(back)} was returned`;
}

/** How many seats wait and how many are pending: `2 waiting seats and 1 pending seat`. */
export const countOfSeats = (seats: readonly Seat[]) =>
  ['waiting', 'pending']
    .map((state) => [seats.filter(({ status }) => status === state).length, state] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) => many(count, `${state} seat`))
    .join(' and ');

/** An id with its middle left out. */
export const shortId = (id: string) =>
  id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
