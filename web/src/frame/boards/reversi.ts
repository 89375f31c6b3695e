import { Count } from '../view/count';
import { Dots } from '../view/decoration';
import { field, PASS } from './cells';
import { cellTargets, occupy, readCells, startBoard } from './disc-cells';
import type { Layout } from './disc-cells';
import type { Side } from '../protocol';
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
  Count,
  Decoration: Dots,
  targets: cellTargets,
  after: (state, move, side) => (move === PASS ? state : turnDiscs(state, move, side)),
  say: (move) => (move === PASS ? { key: 'move.pass' } : move),
  how(state, you, drawn) {
    const counts = reversi.board(state, you, null)?.counts;
    if (drawn || counts === undefined) return drawn ? { key: 'how.equal' } : null;
    const [mine = 0, theirs = 0] = you === 0 ? counts : [counts[1], counts[0]];
    return { key: 'how.reversi', parameters: { mine, theirs } };
  },
};

/** Returns the state after a side has placed a disc and turned the discs that are enclosed. */
function turnDiscs(state: unknown, move: string, side: Side): object {
  const next = occupy(state, move, side);
  const [left, bottom] = [move.charCodeAt(0) - 97, Number(move.slice(1)) - 1];
  for (let direction = 0; direction < 9; direction += 1) {
    const [x, y] = [(direction % 3) - 1, Math.floor(direction / 3) - 1];
    const at = (steps: number) => next.board[bottom + y * steps]?.[left + x * steps] ?? null;
    let steps = 1;
    while (at(steps) === 1 - side) steps += 1;
    if (at(steps) !== side) continue;
    while ((steps -= 1) > 0) (next.board[bottom + y * steps] ?? [])[left + x * steps] = side;
  }
  return next;
}

function countDiscs(rows: Cell[][], side: number): number {
  return rows.flat().filter((cell) => cell.mark?.side === side).length;
}
