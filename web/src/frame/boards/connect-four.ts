import { cellId, field, readCells } from './cells';
import type { Layout } from './cells';
import type { Adapter, Cell } from './types';

const LAYOUT: Layout = {
  columns: 7,
  rows: 6,
  mark: (side) => ({ side, shape: 'disc', label: side === 0 ? 'red disc' : 'yellow disc' }),
};

/** A move is a column, `1` to `7`. Row 1 is drawn at the bottom. */
export const connectFour: Adapter = {
  gameId: 'connect-four',
  name: 'Connect Four',
  sides: ['Red', 'Yellow'],
  board(state, _you, lastMove) {
    const cells = readCells(state, LAYOUT, null);
    if (cells === null) return null;
    const given = field(state, 'last');
    const last = typeof given === 'string' && given.length === 2 ? given : topDisc(cells, lastMove);
    const marked = cells.map((row) => row.map((cell) => ({ ...cell, last: cell.id === last })));
    return { rows: marked.reverse(), note: null };
  },
  /** A press anywhere in a column means that column. */
  targets(legalMoves) {
    const targets = new Map<string, string[]>();
    for (const move of legalMoves) {
      for (let row = 0; row < LAYOUT.rows; row += 1) {
        targets.set(cellId(Number(move) - 1, row), [move]);
      }
    }
    return targets;
  },
  landing: () => null,
  say: (move) => `column ${move}`,
};

/** Returns the id of the highest disc in the column of a move. `cells` has row 1 first. */
function topDisc(cells: Cell[][], move: string | null): string | null {
  const column = Number(move ?? 0) - 1;
  return cells.map((row) => row[column]).filter((cell) => cell?.mark).at(-1)?.id ?? null;
}
