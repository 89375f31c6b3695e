/** The interface of a game's adapter. The components draw the boards of all games through it. */

import type { FunctionComponent } from 'preact';
import type { ChoicesProps } from '../view/choices';
import type { ColumnsProps } from '../view/columns';
import type { useDrag } from '../view/drag';
import type { Parameters } from '../words/locale';
import type { Side } from '../protocol';
import type { Key } from '../words/en';

/** One of the drawn shapes, or the letter of a chess piece. */
export type Shape = 'x' | 'o' | 'disc' | 'p' | 'n' | 'b' | 'r' | 'q' | 'k';

export interface Mark {
  side: Side;
  shape: Shape;
  /** What screen readers say for it: `X`, `red disc`, `white queen`. */
  label: Key;
}

export interface Cell {
  /** Column letter and row number, as in moves: `a1`. */
  id: string;
  mark: Mark | null;
  /** Whether the last move touched this cell. */
  last: boolean;
  /** The reason why a cell stands out: it is part of a winning line, or its king is in check. */
  highlight: 'line' | 'check' | null;
  /** Where the mark came from with the last move, in games that move pieces. */
  from?: string;
  /** Whether this is a dark square of a chequered board. */
  dark?: boolean;
}

export interface Board {
  /** The rows as they are drawn, the topmost first. */
  rows: Cell[][];
  /** The number of discs of each side, in games that count them. */
  counts?: [number, number];
  /** What each side has captured, and by how many pawns it leads, in chess. */
  captured?: [Captured, Captured];
  check?: boolean;
}

export interface Captured {
  shapes: Shape[];
  lead: number;
}

/** A text of the catalogue, by its key. */
export interface KeyedText {
  key: Key;
  parameters?: Parameters;
}

export interface Adapter {
  /** The game's id in the Game API. It is also the CSS class of the board. */
  gameId: GameId;
  columns: number;
  rows: number;
  /** The state before the first move. */
  start: unknown;
  /** The shape of a side, in its plate. */
  sign(side: Side): Shape;
  /**
   * Returns the board as the side `you` sees it, or null if `state` is not a state of this game.
   * `lastMove` is null where it is not known.
   */
  board(state: unknown, you: Side, lastMove: string | null): Board | null;
  /**
   * Returns the moves that a press on a cell can mean, by the cell's id. `picked` is the cell of
   * the piece that the player has picked up, in games that move pieces.
   */
  targets(legalMoves: readonly string[], picked: string | null): Map<string, string[]>;
  /** Returns the cells whose piece can be picked up. Only games that move pieces have this. */
  sources?(legalMoves: readonly string[]): Set<string>;
  /** Draws a board on which a press anywhere in a column means that column. */
  Columns?: FunctionComponent<ColumnsProps>;
  /** Draws the number of a side's discs, in games that count them. */
  Count?: FunctionComponent<{ count: number; side: Side }>;
  /** Draws what a board shows besides its cells. */
  Decoration?: FunctionComponent<{ board: Board }>;
  /** Lets pieces be dragged. It is a hook. */
  useDrag?: typeof useDrag;
  /** Asks which of several moves to the same cell is meant. */
  Choices?: FunctionComponent<ChoicesProps>;
  /**
   * How shapes other than discs are drawn: the content of an SVG that is `units` wide and high.
   * `kind` is the CSS class of all of them.
   */
  drawings?: { kind: string; units: number; shapes: Partial<Record<Shape, string>> };
  /** Returns a move as screen readers say it. A string is said as it is. */
  say(move: string): string | KeyedText;
  /**
   * Returns how a game that was played to its end was won or drawn, as the side `you` sees it, or
   * null if the state does not show it.
   */
  how(state: unknown, you: Side, drawn: boolean): KeyedText | null;
  /** Returns the state after a legal move of a side, as far as the board shows it. */
  after(state: unknown, move: string, side: Side): unknown;
  /**
   * Returns a move as the list of moves shows it, from the states before and after it. `over`:
   * whether no legal move was left.
   */
  note?(move: string, before: unknown, after: unknown, over: boolean): string;
}

export type GameId = 'tic-tac-toe' | 'connect-four' | 'reversi' | 'chess';
