import { cellTargets, field, PASS, readCells, startBoard } from './cells';
import type { Layout } from './cells';
import type { Adapter, Cell } from './types';

const LAYOUT: Layout = {
  columns: 8,
  rows: 8,
  mark: (side) => ({ side, shape: 'disc', label: `mark.reversi.${side}` }),
};

export const reversi: Adapter = {
  gameId: 'reversi',
  columns: LAYOUT.columns,
  rows: LAYOUT.rows,
  start: startBoard(LAYOUT, { d4: 1, e4: 0, d5: 0, e5: 1 }),
  sign: () => 'disc',
  board(state, _you, lastMove) {
    const rows = readCells(state, LAYOUT, lastMove);
    if (rows === null) return null;
    const scores = field(state, 'scores');
    const given = Array.isArray(scores) && scores.length === 2 && scores.every(Number.isFinite);
    const counts = given ? scores : [countDiscs(rows, 0), countDiscs(rows, 1)];
    return { rows, counts: counts as [number, number] };
  },
  targets: cellTargets,
  landing: (move) => (move === PASS ? null : move),
  say: (move) => (move === PASS ? { key: 'move.pass' } : move),
};

function countDiscs(rows: Cell[][], side: number): number {
  return rows.flat().filter((cell) => cell.mark?.side === side).length;
}
