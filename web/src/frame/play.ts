/** What the player sees, as a value, and how each message changes it. Pure: no clock, no socket, no document. */

import type { Link } from './connection';
import type { Opponent, Position, ServerMessage, Session, Side } from './protocol';

export interface Match extends Position {
  matchId: string;
  gameId: string;
  you: Side;
  opponent: Opponent;
  last: { by: Side; move: string } | null;
}

export interface Ending {
  matchId: string;
  outcome: string;
  result: string | null;
  endReason: string | null;
}

export interface Play {
  link: Link;
  session: Session | null;
  /** By how much the server's clock is ahead of this machine's. */
  aheadMs: number;
  /** The match on the screen; it stays there after its end, until the next one begins. */
  match: Match | null;
  ending: Ending | null;
  /** Waiting for an opponent, or for a seat. */
  waiting: boolean;
  /** The move that has been sent and not yet shown by the server. */
  sent: { matchId: string; ply: number; move: string } | null;
}

export const START: Play = {
  link: { kind: 'idle' },
  session: null,
  aheadMs: 0,
  match: null,
  ending: null,
  waiting: false,
  sent: null,
};

/** Whether a match is on the screen that has not ended. */
export function runs(play: Play): boolean {
  return play.match !== null && play.ending === null;
}

/** Whether the player may move now. */
export function mayMove(play: Play): boolean {
  const { match } = play;
  return runs(play) && play.link.kind === 'open' && play.sent === null && match !== null && match.turn === match.you;
}

const aheadOf = (play: Play, message: { nowMs?: number }, localMs: number): number =>
  typeof message.nowMs === 'number' ? message.nowMs - localMs : play.aheadMs;

/** Returns the play after a message. One of another match is ignored while this one runs, and so is one that is older than what is shown. */
export function receive(play: Play, message: ServerMessage, localMs: number): Play {
  const { match } = play;
  switch (message.type) {
    case 'waiting':
      return runs(play) ? play : { ...play, waiting: true };
    case 'snapshot': {
      if (match !== null && runs(play) && match.matchId !== message.matchId) return play;
      const same = match?.matchId === message.matchId;
      const sent = play.sent?.matchId === message.matchId && play.sent.ply === message.ply ? play.sent : null;
      const last = same && match.ply === message.ply ? match.last : null;
      const { matchId, status = 'started', result = null, endReason = null } = message;
      const ending = status === 'started' ? null : { matchId, outcome: status, result, endReason };
      const next = { ...play, match: { ...message, last }, waiting: false, aheadMs: aheadOf(play, message, localMs) };
      return { ...next, ending, sent: ending === null ? sent : null };
    }
    case 'moved': {
      if (match === null || match.matchId !== message.matchId || message.seq <= match.seq) return play;
      const { seq, ply, turn, state, legalMoves, by, move } = message;
      const times = { deadlineAtMs: message.deadlineAtMs ?? null, remainingMs: message.remainingMs ?? null };
      const next: Match = { ...match, seq, ply, turn, state, legalMoves, ...times, last: { by, move } };
      return { ...play, match: next, sent: null, aheadMs: aheadOf(play, message, localMs) };
    }
    case 'presence': {
      if (match === null || match.matchId !== message.matchId || message.seq <= match.seq) return play;
      const { seq, opponent } = message;
      const times = {
        ...(message.deadlineAtMs === undefined ? {} : { deadlineAtMs: message.deadlineAtMs }),
        ...(message.remainingMs === undefined ? {} : { remainingMs: message.remainingMs }),
      };
      return { ...play, match: { ...match, seq, opponent: { ...match.opponent, ...opponent }, ...times } };
    }
    case 'ended': {
      if (match !== null && match.matchId !== message.matchId && runs(play)) return play;
      const { matchId, outcome, result = null, endReason = null } = message;
      const ended = match?.matchId === matchId ? { ...match, legalMoves: [], deadlineAtMs: null } : null;
      return { ...play, match: ended, ending: { matchId, outcome, result, endReason }, waiting: false, sent: null };
    }
    case 'error':
      return { ...play, sent: null };
    default:
      return play;
  }
}

/** Returns the milliseconds that a side has left, or null where no clock runs for it. */
export function timeLeft(play: Play, side: Side, localMs: number): number | null {
  const { match } = play;
  if (match === null || play.ending !== null) return null;
  const bank = match.remainingMs?.[side];
  if (match.turn === side && typeof match.deadlineAtMs === 'number') {
    return Math.max(0, match.deadlineAtMs - (localMs + play.aheadMs));
  }
  return typeof bank === 'number' ? bank : null;
}

/** What the host page is told whenever it changes. */
export function stateFor(play: Play): { matchId: string | null; status: string; ply: number | null; turn: Side | null; you: Side | null } {
  const { match, ending } = play;
  const status = match === null && ending === null ? (play.waiting ? 'waiting' : 'connecting') : ending === null ? 'started' : ending.outcome;
  return {
    matchId: match?.matchId ?? ending?.matchId ?? null,
    status,
    ply: match?.ply ?? null,
    turn: match?.turn ?? null,
    you: match?.you ?? null,
  };
}
