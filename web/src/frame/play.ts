/** What the player sees, as one value, and how each message changes it. All functions are pure. */

import type { SocketState } from './game-client';
import type { Amounts, Ended, Moved, Opponent, Position, Presence } from './protocol';
import type { ServerMessage, Session, Side, Snapshot, Waiting } from './protocol';

export interface Match extends Position, Amounts {
  matchId: string;
  gameId: string;
  you: Side;
  opponent: Opponent;
  incrementMs?: number | null;
  lastMove: { by: Side; move: string } | null;
  /** The newest moves, the oldest first: all of them, unless a match is very long. */
  moves: readonly string[];
}

/** How a match ended. */
export interface Ending {
  matchId: string;
  outcome: string;
  result: string | null;
  endReason: string | null;
  /** What this player gets, in US cents, or null where the server has not said so. */
  dueUsdCents: number | null;
}

export interface Play {
  socket: SocketState;
  session: Session | null;
  /** By how many milliseconds the server's clock is ahead of this machine's. */
  aheadMs: number;
  /** The match on the screen. It stays there after its end, until the next one starts. */
  match: Match | null;
  ending: Ending | null;
  /** The player's other running matches. */
  others: readonly Match[];
  /** The seat that waits, `none` where nothing has been paid, or null while nothing is known. */
  seat: Waiting | 'none' | null;
  /** The move that was sent and has not come back as `moved` yet. */
  pendingMove: { matchId: string; ply: number; move: string } | null;
}

/** With no more milliseconds than this, a clock is low and shows tenths. */
export const LOW_MS = 10_000;

export const START: Play = {
  socket: { kind: 'idle' },
  session: null,
  aheadMs: 0,
  match: null,
  ending: null,
  others: [],
  seat: null,
  pendingMove: null,
};

/** Returns whether there is a match on the screen that has not ended. */
export function isRunning(play: Play): boolean {
  return play.match !== null && play.ending === null;
}

/** Returns the id of the match on the screen while that match runs, else null. */
export function runningMatchId(play: Play): string | null {
  return isRunning(play) && play.match !== null ? play.match.matchId : null;
}

/** Returns whether the player may move now. */
export function mayMove(play: Play): boolean {
  const { match, socket, pendingMove } = play;
  if (!isRunning(play) || match === null) return false;
  return socket.kind === 'open' && pendingMove === null && match.turn === match.you;
}

/**
 * Returns the play after a message. Messages that are older than what is shown are ignored. A
 * message about another match changes that match, which stays off the screen.
 */
export function receive(play: Play, message: ServerMessage): Play {
  switch (message.type) {
    case 'waiting':
      return { ...play, seat: message.seatId == null ? 'none' : message };
    case 'no_seat':
      return { ...play, seat: 'none' };
    case 'snapshot':
      return receiveSnapshot(play, message);
    case 'moved':
      return change(play, message, afterMove);
    case 'presence':
      return change(play, message, afterPresence);
    case 'ended':
      return receiveEnded(play, message);
    case 'error':
      return { ...play, pendingMove: null };
    default:
      return play;
  }
}

/** Returns the play with another of the player's running matches on the screen. */
export function switchTo(play: Play, matchId: string): Play {
  const next = play.others.find((match) => match.matchId === matchId);
  if (next === undefined) return play;
  const rest = play.others.filter((match) => match !== next);
  const left = isRunning(play) && play.match !== null ? [play.match] : [];
  return { ...play, match: next, ending: null, others: [...rest, ...left] };
}

/** Returns the play after a message about one match. An older message leaves the match as it is. */
function change<M extends Moved | Presence>(
  play: Play,
  message: M,
  after: (match: Match, message: M) => Match,
): Play {
  const isOf = (match: Match): boolean =>
    match.matchId === message.matchId && message.seq > match.seq;
  const pending = play.pendingMove;
  const isAnswer = message.type === 'moved' && pending?.matchId === message.matchId;
  const rest = { ...play, pendingMove: isAnswer ? null : pending };
  if (play.match !== null && isOf(play.match))
    return { ...rest, match: after(play.match, message) };
  if (!play.others.some(isOf)) return play;
  const others = play.others.map((match) => (isOf(match) ? after(match, message) : match));
  return { ...rest, others };
}

function afterMove(match: Match, message: Moved): Match {
  const { seq, ply, turn, state, legalMoves, by, move } = message;
  const { deadlineAtMs = null, remainingMs = null } = message;
  const moves = [...match.moves, move];
  const position = { seq, ply, turn, state, legalMoves, deadlineAtMs, remainingMs };
  return { ...match, ...position, lastMove: { by, move }, moves };
}

function afterPresence(match: Match, message: Presence): Match {
  const { seq, opponent, deadlineAtMs, remainingMs } = message;
  const next: Match = { ...match, seq, opponent: { ...match.opponent, ...opponent } };
  if (deadlineAtMs !== undefined) next.deadlineAtMs = deadlineAtMs;
  if (remainingMs !== undefined) next.remainingMs = remainingMs;
  return next;
}

function receiveSnapshot(play: Play, message: Snapshot): Play {
  const { matchId, ply, status = 'started', result = null, endReason = null } = message;
  const known = [play.match, ...play.others].find((match) => match?.matchId === matchId) ?? null;
  const moves = message.moves ?? (known?.ply === ply ? known.moves : []);
  const move = moves.at(-1);
  const by: Side = ply % 2 === 0 ? 1 : 0;
  const match: Match = { ...message, moves, lastMove: move === undefined ? null : { by, move } };
  const rest = play.others.filter((other) => other.matchId !== matchId);
  if (isRunning(play) && play.match?.matchId !== matchId) {
    return { ...play, others: status === 'started' ? [...rest, match] : rest };
  }
  const over = status !== 'started';
  const due = play.ending?.matchId === matchId ? play.ending.dueUsdCents : null;
  const ending = over ? { matchId, outcome: status, result, endReason, dueUsdCents: due } : null;
  const pending = play.pendingMove;
  // The position is still the one before the pending move, so the move has yet to be played.
  const unplayed = pending?.matchId === matchId && pending.ply === ply && !over;
  return {
    ...play,
    match,
    ending,
    others: rest,
    seat: over ? play.seat : null,
    pendingMove: unplayed ? pending : null,
  };
}

function receiveEnded(play: Play, message: Ended): Play {
  const { match } = play;
  const { matchId, outcome, result = null, endReason = null, dueUsdCents = null } = message;
  const isShown = match?.matchId === matchId;
  if (!isShown && isRunning(play)) {
    return { ...play, others: play.others.filter((other) => other.matchId !== matchId) };
  }
  const shown = isShown ? { ...match, legalMoves: [], deadlineAtMs: null } : null;
  const ending = { matchId, outcome, result, endReason, dueUsdCents };
  return { ...play, match: shown, ending, seat: null, pendingMove: null };
}

/**
 * Returns the milliseconds that a side has left, or null if no clock is shown for it. `localMs` is
 * this machine's time.
 */
export function timeLeft(play: Play, side: Side, localMs: number): number | null {
  const { match } = play;
  if (match === null || play.ending !== null) return null;
  const remaining = match.remainingMs?.[side] ?? null;
  if (match.turn !== side || typeof match.deadlineAtMs !== 'number') return remaining;
  const left = Math.max(0, match.deadlineAtMs - (localMs + play.aheadMs));
  return remaining === null ? left : Math.min(left, remaining);
}

/** The fields of `pgs.state`, which is sent to the host page when one of them changes. */
export interface PageState {
  matchId: string | null;
  status: 'no_seat' | 'waiting' | 'playing' | 'ended';
  ply: number | null;
  turn: Side | null;
  you: Side | null;
}

/** Returns what the host page hears about a play, or null while there is nothing to tell. */
export function pageState(play: Play): PageState | null {
  const { match, ending } = play;
  const status = statusOf(play);
  if (status === null) return null;
  return {
    matchId: match?.matchId ?? ending?.matchId ?? null,
    status,
    ply: match?.ply ?? null,
    turn: match?.turn ?? null,
    you: match?.you ?? null,
  };
}

function statusOf({ match, ending, seat }: Play): PageState['status'] | null {
  if (ending !== null) return 'ended';
  if (match !== null) return 'playing';
  if (seat === null) return null;
  return seat === 'none' ? 'no_seat' : 'waiting';
}

/** Returns the amounts of what is on the screen, or null if they are unknown or not to be shown. */
export function amountsOf(play: Play): { stake: number; prize: number } | null {
  if (play.session?.theme?.showAmounts === false) return null;
  const from: Amounts | null = play.match ?? (play.seat === 'none' ? null : play.seat);
  const { stakeUsdCents: stake, prizeUsdCents: prize } = from ?? {};
  return typeof stake === 'number' && typeof prize === 'number' ? { stake, prize } : null;
}
