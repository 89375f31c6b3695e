import { Columns } from '../view/columns';
import { cellId, field } from './cells';
import { occupy, readCells, startBoard } from './disc-cells';
import type { Layout } from './disc-cells';
import type { Adapter, Cell } from './types';

const LAYOUT: Layout = {
  columns: 7,
  rows: 6,
  mark: (side) => ({ side, shape: 'disc', label: `mark.connect-four.${side}` }),
};

/** A move is a column, `1` to `7`. */
export const connectFour: Adapter = {
  gameId: 'connect-four',
  columns: LAYOUT.columns,
  rows: LAYOUT.rows,
  start: startBoard(LAYOUT),
  sign: () => 'disc',
  board(state, _you, lastMove) {
    const cells = readCells(state, LAYOUT, null);
    if (cells === null) return null;
    const given = field(state, 'last');
    const last = typeof given === 'string' && given.length === 2 ? given : topDisc(cells, lastMove);
    return { rows: cells.map((row) => row.map((cell) => ({ ...cell, last: cell.id === last }))) };
  },
  targets(legalMoves) {
    const targets = new Map<string, string[]>();
    for (const move of legalMoves) {
      for (let row = 0; row < LAYOUT.rows; row += 1) {
        targets.set(cellId(Number(move) - 1, row), [move]);
      }
    }
    return targets;
  },
  Columns,
  after(state, move, side) {
    const cells = readCells(state, LAYOUT, null) ?? [];
    const column = cells.map((row) => row[Number(move) - 1]);
    return occupy(state, column.filter((cell) => cell?.mark === null).at(-1)?.id ?? null, side);
  },
  say: (move) => ({ key: 'move.column', parameters: { n: Number(move) } }),
  how: (_state, _you, drawn) => ({ key: drawn ? 'how.full' : 'how.connect-four' }),
};

/** Returns the id of the highest disc in the column of a move. */
function topDisc(cells: Cell[][], move: string | null): string | null {
  const column = Number(move ?? 0) - 1;
  return cells.map((row) => row[column]).find((cell) => cell?.mark)?.id ?? null;
}
