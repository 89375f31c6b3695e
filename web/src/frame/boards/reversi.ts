import { cellTargets, field, PASS, readCells } from './cells';
import type { Layout } from './cells';
import type { Adapter, Cell } from './types';

const LAYOUT: Layout = {
  columns: 8,
  rows: 8,
  mark: (side) => ({ side, shape: 'disc', label: side === 0 ? 'black disc' : 'white disc' }),
};

export const reversi: Adapter = {
  gameId: 'reversi',
  name: 'Reversi',
  sides: ['Black', 'White'],
  board(state, _you, lastMove) {
    const rows = readCells(state, LAYOUT, lastMove);
    if (rows === null) return null;
    const scores = field(state, 'scores');
    const given = Array.isArray(scores) && scores.length === 2;
    const [black, white] = given ? scores : [countDiscs(rows, 0), countDiscs(rows, 1)];
    return { rows, note: `Black ${String(black)} – White ${String(white)}` };
  },
  targets: cellTargets,
  landing: (move) => (move === PASS ? null : move),
  say: (move) => move,
};

function countDiscs(rows: Cell[][], side: number): number {
  return rows.flat().filter((cell) => cell.mark?.side === side).length;
}
