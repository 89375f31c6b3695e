import { Hash } from '../view/decoration';
import { cellTargets, occupy, readCells, startBoard } from './disc-cells';
import type { Layout } from './disc-cells';
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
  drawings: {
    kind: 'sign',
    units: 100,
    shapes: {
      x:
        '<path pathLength="1" d="M23 22c17 19 35 38 54 55"/>' +
        '<path pathLength="1" d="M78 23C60 42 42 59 22 78"/>',
      o: '<circle pathLength="1" cx="50" cy="50" r="30" transform="rotate(-110 50 50)"/>',
    },
  },
  sign,
  board(state, _you, lastMove) {
    const rows = readCells(state, LAYOUT, lastMove);
    return rows && { rows };
  },
  Decoration: Hash,
  targets: cellTargets,
  after: occupy,
  say: (move) => move,
  how: (_state, _you, drawn) => ({ key: drawn ? 'how.full' : 'how.tic-tac-toe' }),
};
