/** What a game's adapter gives to the components, which draw the boards of all games. */

import type { Side } from '../protocol';

/** One of the drawn shapes, or a character of text, such as a chess symbol. */
export type Shape = 'x' | 'o' | 'disc' | { glyph: string };

export interface Mark {
  side: Side;
  shape: Shape;
  /** What screen readers say for it: `X`, `red disc`, `white queen`. */
  label: string;
}

/** The reason why a cell stands out. `kind` is the cell's CSS class; screen readers say `label`. */
export interface Highlight {
  kind: 'line' | 'alert';
  label: string;
}

export interface Cell {
  /** Column letter and row number, as in moves: `a1`. */
  id: string;
  mark: Mark | null;
  /** Whether the last move touched this cell. */
  last: boolean;
  highlight: Highlight | null;
  /** Whether this is a dark square of a chequered board. */
  dark?: boolean;
}

export interface Board {
  /** The rows as they are drawn, the topmost first. */
  rows: Cell[][];
  /** A line of text below the board, such as a score, or null. */
  note: string | null;
}

/** A question that the player answers when one press can mean several moves. */
export interface Choice {
  question: string;
  /** Returns the text of a move's button. */
  label(move: string): string;
}

export interface Adapter {
  /** The game's id in the Game API. It is also the CSS class of the board. */
  gameId: string;
  /** The game's name as players read it. */
  name: string;
  /** The names of side 0, which moves first, and of side 1. */
  sides: [string, string];
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
  /** Returns the cell that shows a move while it is being sent, or null if no cell does. */
  landing(move: string): string | null;
  /** Only games in which one press can mean several moves have this. */
  choice?: Choice;
  /** Returns a move as screen readers say it. */
  say(move: string): string;
}
