import { cellTargets, field, PASS, readGrid } from './grid';
import type { Adapter } from './types';

export const reversi: Adapter = {
  name: 'Reversi',
  kind: 'reversi',
  sides: ['Black', 'White'],
  board(state, _you, last) {
    const rows = readGrid(state, 8, 8, (side) => ({ side, shape: 'disc', says: side === 0 ? 'black disc' : 'white disc' }), last);
    if (rows === null) return null;
    const scores = field(state, 'scores');
    const counted = Array.isArray(scores) && scores.length === 2 ? scores : [count(rows, 0), count(rows, 1)];
    return { rows, note: `Black ${String(counted[0])} – White ${String(counted[1])}` };
  },
  targets: cellTargets,
  say: (move) => (move === PASS ? 'pass' : move),
};

function count(rows: { mark: { side: number } | null }[][], side: number): number {
  return rows.flat().filter((cell) => cell.mark?.side === side).length;
}
