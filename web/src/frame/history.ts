/** The positions of a match before the newest one, worked out from its moves. */

import { adapterOf } from './boards';
import type { Match, Play } from './play';
import type { Side } from './protocol';
import { sayMove } from './sentences';
import type { Locale } from './words/locale';

let known: { moves: readonly string[]; states: readonly unknown[] } | null = null;

/** Returns which side makes a move, by the number of moves before it. A pass is a move. */
export const sideAt = (ply: number): Side => (ply % 2 === 0 ? 0 : 1);

/**
 * Returns the state at the start and after each move, or null if the game cannot be drawn or its
 * first moves are not known. The newest state is the server's.
 */
export function statesOf(match: Match): readonly unknown[] | null {
  const adapter = adapterOf(match.gameId);
  if (adapter === null || match.moves.length !== match.ply) return null;
  if (known?.moves !== match.moves) {
    const states = [adapter.start];
    match.moves.forEach((move, ply) => {
      states.push(adapter.after(states[ply], move, sideAt(ply)));
    });
    known = { moves: match.moves, states };
  }
  return [...known.states.slice(0, -1), match.state];
}

/** Returns a match as it stood after some of its moves. No move can be made in it. */
export function matchAt(match: Match, ply: number): Match {
  const move = match.moves[ply - 1];
  const lastMove = move === undefined ? null : { by: sideAt(ply - 1), move };
  return { ...match, ply, lastMove, state: statesOf(match)?.[ply], legalMoves: [] };
}

/**
 * Returns the match as the board shows it: after `past` moves, if the player looks back, or else
 * with the move that is being sent, so that it is seen at once.
 */
export function shownMatch({ match, pendingMove }: Play, past: number | null): Match | null {
  if (match === null) return null;
  if (past !== null) return matchAt(match, past);
  if (pendingMove?.matchId !== match.matchId) return match;
  const { you, ply } = match;
  const { move } = pendingMove;
  const state = adapterOf(match.gameId)?.after(match.state, move, you);
  return { ...match, ply: ply + 1, lastMove: { by: you, move }, state, legalMoves: [] };
}

/** Returns the known moves as the list shows them, with the number of moves before each. */
export function notesOf(match: Match, locale: Locale): { ply: number; text: string }[] {
  const note = adapterOf(match.gameId)?.note;
  const states = statesOf(match);
  const first = match.ply - match.moves.length;
  return match.moves.map((move, at) => {
    const over = at === match.moves.length - 1 && match.legalMoves.length === 0;
    const noted = states && note?.(move, states[at], states[at + 1], over);
    return { ply: first + at, text: noted || sayMove(match, move, locale) };
  });
}
