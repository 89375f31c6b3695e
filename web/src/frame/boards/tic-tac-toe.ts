import { Hash } from '../view/decoration';
import { cellTargets, occupy, readCells, startBoard } from './cells';
import type { Layout } from './cells';
import type { Adapter, Shape } from './types';

const sign = (side: number): Shape => (side === 0 ? 'x' : 'o');

const LAYOUT: Layout = {
  columns: 3,
  rows: 3,
  mark: (side) => ({ side, shape: sign(side), label: `mark.tic-tac-toe.${side}` }),
};

export const ticTacToe: Adapter = {
  gameId: 'tic-tac-toe',
  columns: LAYOUT.columns,
  rows: LAYOUT.rows,
  start: startBoard(LAYOUT),
  sign,
  board(state, _you, lastMove) {
    const rows = readCells(state, LAYOUT, lastMove);
    return rows && { rows };
  },
  Decoration: Hash,
  targets: cellTargets,
  landing: (move) => move,
  after: occupy,
  say: (move) => move,
};
