/** What every game's adapter gives the one component that draws boards. */

import type { Side } from '../protocol';

export interface Mark {
  side: Side;
  /** How it is drawn: `x`, `o`, `disc`, or the letter of a chess piece in lower case. */
  shape: string;
  /** How it is read out: `X`, `red disc`, `white queen`. */
  says: string;
}

export interface Cell {
  /** Column letter and row number, as in moves: `a1`. */
  id: string;
  mark: Mark | null;
  /** Part of a winning line, of the last move, or a king in check. */
  line?: boolean;
  last?: boolean;
  alert?: boolean;
  /** Of a chequered board: whether the square is a dark one. */
  dark?: boolean;
}

export interface Board {
  /** The rows as they are drawn, the topmost first. */
  rows: Cell[][];
  /** What is worth saying beside the board: a score, a check. */
  note: string | null;
}

export interface Adapter {
  name: string;
  /** The class of the board, for the style sheet. */
  kind: string;
  /** How the sides are called, the one that begins first. */
  sides: [string, string];
  /** Returns the board as `you` see it, or null for a state of another shape. `last` is the last move, where it is known. */
  board(state: unknown, you: Side, last: string | null): Board | null;
  /** Returns the moves that pressing a cell stands for, by the cell's id, with `picked` taken up before where a game moves pieces. */
  targets(legalMoves: readonly string[], picked: string | null): Map<string, string[]>;
  /** Returns the cells from which a piece can be taken up; only for games that move pieces. */
  sources?(legalMoves: readonly string[]): Set<string>;
  /** Returns how a choice between several moves of one press is called. */
  choice?(move: string): string;
  /** Returns how a move is read out. */
  say(move: string): string;
}
