import { cellId, field, readGrid } from './grid';
import type { Adapter } from './types';

const COLUMNS = 7;
const ROWS = 6;

/** Row 1 is the bottom, and is drawn there. A column is pressed anywhere in it. */
export const connectFour: Adapter = {
  name: 'Connect four',
  kind: 'connect-four',
  sides: ['Red', 'Yellow'],
  board(state, _you, move) {
    const told = field(state, 'last');
    const grid = readGrid(state, COLUMNS, ROWS, (side) => ({ side, shape: 'disc', says: side === 0 ? 'red disc' : 'yellow disc' }), null);
    if (grid === null) return null;
    const last = typeof told === 'string' && told.length === 2 ? told : topOf(grid, move);
    return { rows: grid.map((row) => row.map((cell) => ({ ...cell, last: cell.id === last }))).reverse(), note: null };
  },
  targets(legalMoves) {
    const targets = new Map<string, string[]>();
    for (const move of legalMoves) {
      for (let row = 0; row < ROWS; row += 1) targets.set(cellId(Number(move) - 1, row), [move]);
    }
    return targets;
  },
  say: (move) => `column ${move}`,
};

/** Returns the name of the highest disc in a column. */
function topOf(grid: { id: string; mark: unknown }[][], column: string | null): string | null {
  const full = grid.filter((row) => row[Number(column ?? 0) - 1]?.mark);
  return full.at(-1)?.[Number(column) - 1]?.id ?? null;
}
