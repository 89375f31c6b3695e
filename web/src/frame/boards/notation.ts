/** Chess moves in standard algebraic notation (FIDE Laws of Chess, appendix C). */

import type { PlayedMove } from '../play';
import { field } from './cells';

interface After {
  state: unknown;
  legalMoves: readonly string[];
}

/** Returns the letter on a square of the first field of a FEN, or an empty text. */
function letterAt(state: unknown, square: string): string {
  const fen = field(state, 'fen');
  const ranks = (typeof fen === 'string' ? fen : '').split(' ')[0]?.split('/') ?? [];
  const rank = ranks[8 - Number(square[1])] ?? '';
  const letters = rank.replace(/[1-8]/g, (digit) => '.'.repeat(Number(digit)));
  const letter = letters[square.charCodeAt(0) - 97] ?? '';
  return letter === '.' ? '' : letter;
}

/**
 * Returns a move such as `Nbd7`, `exd5`, `O-O` or `e8=Q#`. The legal moves of the position before
 * it tell which squares must be named, and those after it whether it gives mate.
 */
export function notation({ move, before }: PlayedMove, after: After): string {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const piece = letterAt(before.state, from).toUpperCase();
  const check = field(after.state, 'check') === true;
  const ending = check ? (after.legalMoves.length === 0 ? '#' : '+') : '';
  const steps = Math.abs(from.charCodeAt(0) - to.charCodeAt(0));
  if (piece === 'K' && steps === 2) return (to[0] === 'g' ? 'O-O' : 'O-O-O') + ending;
  const pawnCaptures = piece === 'P' && from[0] !== to[0];
  const captures = pawnCaptures || letterAt(before.state, to) !== '';
  const promotion = move.slice(4) === '' ? '' : `=${move.slice(4).toUpperCase()}`;
  const origin = piece === 'P' ? (captures ? from[0] : '') : piece + distinction(move, before);
  return `${origin}${captures ? 'x' : ''}${to}${promotion}${ending}`;
}

/** Returns the file, rank or square that tells a piece from others that could have moved there. */
function distinction(move: string, before: PlayedMove['before']): string {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const piece = letterAt(before.state, from);
  const rivals = before.legalMoves
    .filter((other) => other.slice(2, 4) === to)
    .map((other) => other.slice(0, 2))
    .filter((square) => square !== from && letterAt(before.state, square) === piece);
  if (rivals.length === 0) return '';
  if (rivals.every((square) => square[0] !== from[0])) return from[0] ?? '';
  return rivals.every((square) => square[1] !== from[1]) ? (from[1] ?? '') : from;
}
