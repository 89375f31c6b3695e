import { cellTargets, readGrid } from './grid';
import type { Adapter } from './types';

export const ticTacToe: Adapter = {
  name: 'Tic-tac-toe',
  kind: 'tic-tac-toe',
  sides: ['X', 'O'],
  board(state, _you, last) {
    const rows = readGrid(state, 3, 3, (side) => ({ side, shape: side === 0 ? 'x' : 'o', says: side === 0 ? 'X' : 'O' }), last);
    return rows && { rows, note: null };
  },
  targets: cellTargets,
  say: (move) => move,
};
