/** How a chess move changes the board, and which piece could reach a square. */

import type { Side } from '../protocol';
import { field } from './cells';

const EMPTY = '.';

/** Returns the letters of a state's 64 squares, from a8 to h1, with a point for an empty one. */
export function squaresOf(state: unknown): string[] {
  const fen = field(state, 'fen');
  const placement = (typeof fen === 'string' ? fen : '').split(' ')[0] ?? '';
  return [...placement.replace(/\//g, '').replace(/\d/g, (count) => EMPTY.repeat(Number(count)))];
}

/** Returns the index of a square such as `e4`. */
export const indexOf = (square: string): number =>
  (8 - Number(square[1])) * 8 + square.charCodeAt(0) - 97;

export const isWhite = (letter: string): boolean => letter < 'a';

/** Returns whether the piece on a square attacks another square, whatever stands there. */
export function reaches(squares: readonly string[], from: number, to: number): boolean {
  const letter = squares[from] ?? EMPTY;
  const [x, y] = [(to % 8) - (from % 8), (to >> 3) - (from >> 3)];
  const [width, height] = [Math.abs(x), Math.abs(y)];
  const kind = letter.toLowerCase();
  if (kind === 'n') return width * height === 2;
  if (kind === 'k') return Math.max(width, height) === 1;
  if (kind === 'p') return width === 1 && y === (isWhite(letter) ? -1 : 1);
  const straight = width * height === 0 && kind !== 'b';
  const diagonal = width === height && kind !== 'r';
  if (letter === EMPTY || from === to || !(straight || diagonal)) return false;
  const step = Math.sign(y) * 8 + Math.sign(x);
  let at = from + step;
  while (at !== to && squares[at] === EMPTY) at += step;
  return at === to;
}

/** Returns whether the king of white or of black is attacked. */
export function isChecked(squares: readonly string[], white: boolean): boolean {
  const king = squares.indexOf(white ? 'K' : 'k');
  return squares.some(
    (letter, from) => isWhite(letter) !== white && letter !== EMPTY && reaches(squares, from, king),
  );
}

/** Returns the squares after a move. */
export function moveOn(squares: readonly string[], move: string): string[] {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const next = [...squares];
  const put = (square: string, letter: string): void => {
    next[indexOf(square)] = letter;
  };
  const letter = next[indexOf(from)] ?? EMPTY;
  const steps = to.charCodeAt(0) - from.charCodeAt(0);
  const row = from.slice(1);
  if (letter.toLowerCase() === 'p' && steps !== 0 && next[indexOf(to)] === EMPTY) {
    put(to.charAt(0) + row, EMPTY);
  }
  if (letter.toLowerCase() === 'k' && Math.abs(steps) === 2) {
    put((steps > 0 ? 'h' : 'a') + row, EMPTY);
    put((steps > 0 ? 'f' : 'd') + row, isWhite(letter) ? 'R' : 'r');
  }
  const promoted = move.slice(4);
  put(from, EMPTY);
  put(to, promoted && isWhite(letter) ? promoted.toUpperCase() : promoted || letter);
  return next;
}

/** Returns the state after a move of a side. Its FEN has no more than the board and the turn. */
export function chessAfter(state: unknown, move: string, side: Side): object {
  const squares = moveOn(squaresOf(state), move);
  const ranks = squares.join('').match(/.{8}/g) ?? [];
  const fen = `${ranks.join('/')} ${side === 0 ? 'b' : 'w'}`;
  return { fen, check: isChecked(squares, side === 1) };
}
