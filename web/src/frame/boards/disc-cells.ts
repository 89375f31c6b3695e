/**
 * Reads the states of games whose `board` is a list of rows, row 1 first. Each cell holds the
 * number of the side that owns it, or null where it is empty.
 */

import type { Side } from '../protocol';
import { cellId, field, PASS } from './cells';
import type { Cell, Mark } from './types';

/** The size of a board and the marks on it. */
export interface Layout {
  columns: number;
  rows: number;
  /** Returns the mark of a side. */
  mark(side: Side): Mark;
}

/**
 * Returns the cells of a state, the last row first, or null if its board has another size or
 * content. All games have row 1 at the bottom, so that coordinates count in one direction. Cells
 * named in the state's `line` are highlighted. `last` is the cell of the last move.
 */
export function readCells(state: unknown, layout: Layout, last: string | null): Cell[][] | null {
  const board = field(state, 'board');
  if (!Array.isArray(board) || board.length !== layout.rows) return null;
  const given = field(state, 'line');
  const line = new Set<unknown>(Array.isArray(given) ? given : []);
  const rows: Cell[][] = [];
  for (const [row, owners] of board.entries()) {
    if (!Array.isArray(owners) || owners.length !== layout.columns) return null;
    const cells: Cell[] = [];
    for (const [column, owner] of owners.entries()) {
      if (owner !== null && owner !== 0 && owner !== 1) return null;
      const id = cellId(column, row);
      cells.push({
        id,
        mark: owner === null ? null : layout.mark(owner),
        last: id === last,
        highlight: line.has(id) ? 'line' : null,
      });
    }
    rows.push(cells);
  }
  return rows.reverse();
}

/** Returns the targets of a game whose moves are the ids of cells. */
export function cellTargets(legalMoves: readonly string[]): Map<string, string[]> {
  return new Map(legalMoves.filter((move) => move !== PASS).map((move) => [move, [move]]));
}

/** Returns an empty board, with some cells occupied. */
export function startBoard(
  { columns, rows }: { columns: number; rows: number },
  occupied: Record<string, Side> = {},
): { board: (Side | null)[][] } {
  const cell = (column: number, row: number): Side | null => occupied[cellId(column, row)] ?? null;
  const rowAt = (row: number) => Array.from({ length: columns }, (_, column) => cell(column, row));
  return { board: Array.from({ length: rows }, (_, row) => rowAt(row)) };
}

/** Returns a new state after a side has taken a cell. The new state has only the board. */
export function occupy(
  state: unknown,
  id: string | null,
  side: Side,
): { board: (Side | null)[][] } {
  const given = field(state, 'board');
  const board = (Array.isArray(given) ? given : []).map((row: (Side | null)[]) => [...row]);
  const row = board[Number(id?.slice(1)) - 1];
  if (id !== null && row !== undefined) row[id.charCodeAt(0) - 97] = side;
  return { board };
}
