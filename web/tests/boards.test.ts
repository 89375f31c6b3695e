import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterOf } from '../src/frame/boards';
import type { Adapter, Board, Cell } from '../src/frame/boards/types';
import type { Side } from '../src/frame/protocol';

function adapter(gameId: string): Adapter {
  const found = adapterOf(gameId);
  assert.ok(found, gameId);
  return found;
}

function boardOf(
  gameId: string,
  state: unknown,
  you: Side = 0,
  lastMove: string | null = null,
): Board {
  const board = adapter(gameId).board(state, you, lastMove);
  assert.ok(board);
  return board;
}

const emptyRows = (columns: number, rows: number): (Side | null)[][] =>
  Array.from({ length: rows }, () => Array<Side | null>(columns).fill(null));

const idsWhere = (board: Board, holds: (cell: Cell) => boolean): string[] =>
  board.rows.flat().filter(holds).map((cell) => cell.id);

test('tic-tac-toe is drawn with row 1 at the top', () => {
  const cells = [[0, null, null], [null, 1, null], [null, null, null]];
  const board = boardOf('tic-tac-toe', { board: cells, line: ['a1'] }, 0, 'b2');
  const seen = (cell: Cell) => [cell.id, cell.mark?.label ?? null, cell.highlight?.label ?? null];
  assert.deepEqual(board.rows[0]?.map(seen), [
    ['a1', 'X', 'winning line'],
    ['b1', null, null],
    ['c1', null, null],
  ]);
  assert.equal(board.rows[1]?.[1]?.last, true);
  assert.deepEqual([...adapter('tic-tac-toe').targets(['c3'], null)], [['c3', ['c3']]]);
});

test('connect four has row 1 at the bottom, and a press anywhere means the column', () => {
  const cells = emptyRows(7, 6);
  cells[0]![2] = 0;
  cells[1]![2] = 1;
  const board = boardOf('connect-four', { board: cells }, 1, '3');
  assert.equal(board.rows.at(-1)?.[2]?.id, 'c1');
  assert.equal(board.rows.at(-1)?.[2]?.mark?.label, 'red disc');
  assert.deepEqual(idsWhere(board, (cell) => cell.last), ['c2']);
  const targets = adapter('connect-four').targets(['3', '7'], null);
  assert.deepEqual(targets.get('c6'), ['3']);
  assert.deepEqual(targets.get('g1'), ['7']);
  assert.equal(targets.size, 12);
});

test('reversi shows its score, and a pass is not a cell', () => {
  const cells = emptyRows(8, 8);
  cells[3]![3] = 1;
  cells[3]![4] = 0;
  cells[4]![3] = 0;
  assert.equal(boardOf('reversi', { board: cells, scores: [2, 1] }).note, 'Black 2 – White 1');
  assert.equal(boardOf('reversi', { board: cells }).note, 'Black 2 – White 1');
  assert.equal(adapter('reversi').targets(['pass'], null).size, 0);
});

const FEN = 'rnbqkbnr/ppppp2p/8/5ppQ/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 3';

test('chess is drawn from the side of the player', () => {
  const white = boardOf('chess', { fen: FEN, check: true, last: 'd1h5' }, 0);
  assert.equal(white.rows[0]?.[0]?.id, 'a8');
  assert.equal(white.rows[7]?.[4]?.mark?.label, 'white king');
  assert.equal(white.rows[7]?.[0]?.dark, true);
  assert.deepEqual(idsWhere(white, (cell) => cell.highlight?.label === 'in check'), ['e8']);
  assert.deepEqual(idsWhere(white, (cell) => cell.highlight?.kind === 'alert'), ['e8']);
  assert.deepEqual(idsWhere(white, (cell) => cell.last), ['h5', 'd1']);
  assert.equal(white.note, 'Check');
  const black = boardOf('chess', { fen: FEN }, 1);
  assert.equal(black.rows[0]?.[0]?.id, 'h1');
  assert.equal(black.rows[7]?.[7]?.id, 'a8');
});

test('a chess piece is picked up and put down, and a promotion asks for its piece', () => {
  const chess = adapter('chess');
  const legal = ['e7e8q', 'e7e8n', 'a2a3'];
  assert.deepEqual([...(chess.sources?.(legal) ?? [])], ['e7', 'a2']);
  assert.equal(chess.targets(legal, null).size, 0);
  assert.deepEqual([...chess.targets(legal, 'e7')], [['e8', ['e7e8q', 'e7e8n']]]);
  assert.equal(chess.choice?.question, 'Promote to');
  assert.equal(chess.choice?.label('e7e8n'), 'knight');
  assert.equal(chess.say('e7e8q'), 'e7 to e8, promoted to queen');
});

test('a move that is being sent is shown where it lands', () => {
  assert.equal(adapter('tic-tac-toe').landing('b2'), 'b2');
  assert.equal(adapter('reversi').landing('d3'), 'd3');
  assert.equal(adapter('reversi').landing('pass'), null);
  assert.equal(adapter('connect-four').landing('4'), null);
  assert.equal(adapter('chess').landing('e7e8q'), 'e8');
});

test('no adapter draws a state of another shape', () => {
  const other = [null, {}, { board: 'x' }, { board: [[0]] }, { fen: 'x' }];
  for (const gameId of ['tic-tac-toe', 'connect-four', 'reversi', 'chess']) {
    for (const state of [...other, { fen: FEN.replace('8', '9') }]) {
      assert.equal(adapter(gameId).board(state, 0, null), null);
    }
  }
  assert.equal(adapterOf('toString'), null);
});
