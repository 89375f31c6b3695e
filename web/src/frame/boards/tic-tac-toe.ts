import { cellTargets, readCells } from './cells';
import type { Layout } from './cells';
import type { Adapter } from './types';

const LAYOUT: Layout = {
  columns: 3,
  rows: 3,
  mark: (side) => ({ side, shape: side === 0 ? 'x' : 'o', label: side === 0 ? 'X' : 'O' }),
};

export const ticTacToe: Adapter = {
  gameId: 'tic-tac-toe',
  name: 'Tic-tac-toe',
  sides: ['X', 'O'],
  board(state, _you, lastMove) {
    const rows = readCells(state, LAYOUT, lastMove);
    return rows && { rows, note: null };
  },
  targets: cellTargets,
  landing: (move) => move,
  say: (move) => move,
};
