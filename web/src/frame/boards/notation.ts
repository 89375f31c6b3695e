/** Chess moves in standard algebraic notation (FIDE Laws of Chess, appendix C). */

import { field } from './cells';
import { indexOf, isChecked, isWhite, moveOn, reaches, squaresOf } from './chess-moves';

/**
 * Returns a move such as `Nbd7`, `exd5`, `O-O` or `e8=Q#`. `over`: whether the match has no legal
 * move after it, so that a check is mate.
 */
export function notation(move: string, before: unknown, after: unknown, over: boolean): string {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const squares = squaresOf(before);
  const piece = (squares[indexOf(from)] ?? '').toUpperCase();
  const check = field(after, 'check') === true;
  const ending = check ? (over ? '#' : '+') : '';
  const steps = Math.abs(from.charCodeAt(0) - to.charCodeAt(0));
  if (piece === 'K' && steps === 2) return (to[0] === 'g' ? 'O-O' : 'O-O-O') + ending;
  const captures = squares[indexOf(to)] !== '.' || (piece === 'P' && steps > 0);
  const promotion = move.slice(4) === '' ? '' : `=${move.slice(4).toUpperCase()}`;
  const origin = piece === 'P' ? (captures ? from[0] : '') : piece + distinction(move, squares);
  return `${origin}${captures ? 'x' : ''}${to}${promotion}${ending}`;
}

/** Returns the file, rank or square that tells a piece from others that could have moved there. */
function distinction(move: string, squares: string[]): string {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const letter = squares[indexOf(from)] ?? '';
  const rivals = squares
    .map((one, at) => ({ one, at, square: 'abcdefgh'.charAt(at % 8) + (8 - (at >> 3)) }))
    .filter(({ one, square }) => one === letter && square !== from)
    .filter(({ at }) => reaches(squares, at, indexOf(to)))
    .map(({ square }) => square)
    .filter((square) => !isChecked(moveOn(squares, square + to), isWhite(letter)));
  if (rivals.length === 0) return '';
  if (rivals.every((square) => square[0] !== from[0])) return from[0] ?? '';
  return rivals.every((square) => square[1] !== from[1]) ? (from[1] ?? '') : from;
}
