/** What the games on plain grids share: `board` is a list of rows, row 1 first, each cell empty or the number of its owner. */

import type { Side } from '../protocol';
import type { Cell, Mark } from './types';

export const PASS = 'pass';

/** Returns the name of a cell, both counted from 0: (0, 0) is `a1`. */
export function cellId(column: number, row: number): string {
  return `${String.fromCharCode(97 + column)}${row + 1}`;
}

export function field(state: unknown, name: string): unknown {
  return typeof state === 'object' && state !== null ? (state as Record<string, unknown>)[name] : undefined;
}

/** Returns the names in a list, none for anything else. */
export function names(value: unknown): Set<string> {
  return new Set(Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []);
}

/** Returns the cells, row 1 first, or null for a board of another size or content. */
export function readGrid(state: unknown, columns: number, rows: number, mark: (side: Side) => Mark, last: string | null): Cell[][] | null {
  const board = field(state, 'board');
  if (!Array.isArray(board) || board.length !== rows) return null;
  const line = names(field(state, 'line'));
  const grid: Cell[][] = [];
  for (const [row, owners] of board.entries()) {
    if (!Array.isArray(owners) || owners.length !== columns) return null;
    const cells: Cell[] = [];
    for (const [column, owner] of owners.entries()) {
      if (owner !== null && owner !== 0 && owner !== 1) return null;
      const id = cellId(column, row);
      cells.push({ id, mark: owner === null ? null : mark(owner), line: line.has(id), last: id === last });
    }
    grid.push(cells);
  }
  return grid;
}

/** Returns the targets of a game whose moves are the names of cells. */
export function cellTargets(legalMoves: readonly string[]): Map<string, string[]> {
  return new Map(legalMoves.filter((move) => move !== PASS).map((move) => [move, [move]]));
}
