/** What the player sees, as one value, and how each message changes it. All functions are pure. */

import type { SocketState } from './game-client';
import type { Moved, Opponent, Position, Presence } from './protocol';
import type { ServerMessage, Session, Side, Snapshot } from './protocol';

export interface Match extends Position {
  matchId: string;
  gameId: string;
  you: Side;
  opponent: Opponent;
  lastMove: { by: Side; move: string } | null;
}

/** How a match ended. */
export interface Ending {
  matchId: string;
  outcome: string;
  result: string | null;
  endReason: string | null;
}

export interface Play {
  socket: SocketState;
  session: Session | null;
  /** By how many milliseconds the server's clock is ahead of this machine's. */
  aheadMs: number;
  /** The match on the screen. It stays there after its end, until the next one starts. */
  match: Match | null;
  ending: Ending | null;
  /** Whether the server has said that the player has no match yet. */
  waiting: boolean;
  /** The move that was sent and has not come back as `moved` yet. */
  pendingMove: { matchId: string; ply: number; move: string } | null;
}

export const START: Play = {
  socket: { kind: 'idle' },
  session: null,
  aheadMs: 0,
  match: null,
  ending: null,
  waiting: false,
  pendingMove: null,
};

/** Returns whether there is a match on the screen that has not ended. */
export function isRunning(play: Play): boolean {
  return play.match !== null && play.ending === null;
}

/** Returns whether the player may move now. */
export function mayMove(play: Play): boolean {
  const { match, socket, pendingMove } = play;
  if (!isRunning(play) || match === null) return false;
  return socket.kind === 'open' && pendingMove === null && match.turn === match.you;
}

/**
 * Returns the play after a message. While a match runs, messages about other matches are ignored,
 * and so are messages that are older than what is shown.
 */
export function receive(play: Play, message: ServerMessage): Play {
  const { match } = play;
  switch (message.type) {
    case 'waiting':
    case 'no_seat':
      return isRunning(play) ? play : { ...play, waiting: true };
    case 'snapshot':
      return receiveSnapshot(play, message);
    case 'moved':
      return isNews(match, message) ? receiveMoved(play, match, message) : play;
    case 'presence':
      return isNews(match, message) ? receivePresence(play, match, message) : play;
    case 'ended': {
      if (match !== null && match.matchId !== message.matchId && isRunning(play)) return play;
      const { matchId, outcome, result = null, endReason = null } = message;
      const shown =
        match?.matchId === matchId ? { ...match, legalMoves: [], deadlineAtMs: null } : null;
      const ending = { matchId, outcome, result, endReason };
      return { ...play, match: shown, ending, waiting: false, pendingMove: null };
    }
    case 'error':
      return { ...play, pendingMove: null };
    default:
      return play;
  }
}

/** Returns whether a message is about the match on the screen and newer than what is shown. */
function isNews(match: Match | null, message: Moved | Presence): match is Match {
  return match !== null && match.matchId === message.matchId && message.seq > match.seq;
}

function receiveSnapshot(play: Play, message: Snapshot): Play {
  const { match } = play;
  const same = match?.matchId === message.matchId;
  if (isRunning(play) && !same) return play;
  const { matchId, ply, status = 'started', result = null, endReason = null } = message;
  const ending = status === 'started' ? null : { matchId, outcome: status, result, endReason };
  const pending = play.pendingMove;
  // The position is still the one before the pending move, so the move has yet to be played.
  const unplayed = pending?.matchId === matchId && pending.ply === ply && ending === null;
  // A snapshot does not say which move was the last one.
  const lastMove = same && match.ply === ply ? match.lastMove : null;
  return {
    ...play,
    match: { ...message, lastMove },
    ending,
    waiting: false,
    pendingMove: unplayed ? pending : null,
  };
}

function receiveMoved(play: Play, match: Match, message: Moved): Play {
  const { seq, ply, turn, state, legalMoves, by, move } = message;
  const { deadlineAtMs = null, remainingMs = null } = message;
  const position = { seq, ply, turn, state, legalMoves, deadlineAtMs, remainingMs };
  return { ...play, match: { ...match, ...position, lastMove: { by, move } }, pendingMove: null };
}

function receivePresence(play: Play, match: Match, message: Presence): Play {
  const { seq, opponent, deadlineAtMs, remainingMs } = message;
  const next: Match = { ...match, seq, opponent: { ...match.opponent, ...opponent } };
  if (deadlineAtMs !== undefined) next.deadlineAtMs = deadlineAtMs;
  if (remainingMs !== undefined) next.remainingMs = remainingMs;
  return { ...play, match: next };
}

/**
 * Returns the milliseconds that a side has left, or null if no clock is shown for it. `localMs` is
 * this machine's time.
 */
export function timeLeft(play: Play, side: Side, localMs: number): number | null {
  const { match } = play;
  if (match === null || play.ending !== null) return null;
  if (match.turn === side && typeof match.deadlineAtMs === 'number') {
    return Math.max(0, match.deadlineAtMs - (localMs + play.aheadMs));
  }
  const left = match.remainingMs?.[side];
  return typeof left === 'number' ? left : null;
}

/** The fields of `pgs.state`, which is sent to the host page when one of them changes. */
export interface PageState {
  matchId: string | null;
  status: string;
  ply: number | null;
  turn: Side | null;
  you: Side | null;
}

/** Returns what the host page receives about a play. */
export function pageState(play: Play): PageState {
  const { match, ending } = play;
  return {
    matchId: match?.matchId ?? ending?.matchId ?? null,
    status: statusOf(play),
    ply: match?.ply ?? null,
    turn: match?.turn ?? null,
    you: match?.you ?? null,
  };
}

function statusOf({ match, ending, waiting }: Play): string {
  if (ending !== null) return ending.outcome;
  if (match !== null) return 'started';
  return waiting ? 'waiting' : 'connecting';
}
