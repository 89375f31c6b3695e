import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterOf } from '../src/frame/boards';
import type { Adapter } from '../src/frame/boards/types';
import type { Side } from '../src/frame/protocol';

function adapter(gameId: string): Adapter {
  const found = adapterOf(gameId);
  assert.ok(found, gameId);
  return found;
}

const rows = (columns: number, count: number) => Array.from({ length: count }, () => Array<Side | null>(columns).fill(null));
const drawn = (gameId: string, state: unknown, you: Side = 0, last: string | null = null) => {
  const board = adapter(gameId).board(state, you, last);
  assert.ok(board);
  return board;
};

test('tic-tac-toe is drawn with row 1 at the top', () => {
  const board = drawn('tic-tac-toe', { board: [[0, null, null], [null, 1, null], [null, null, null]], line: ['a1'] }, 0, 'b2');
  assert.deepEqual(board.rows[0]?.map((cell) => [cell.id, cell.mark?.says ?? null, cell.line]), [
    ['a1', 'X', true],
    ['b1', null, false],
    ['c1', null, false],
  ]);
  assert.equal(board.rows[1]?.[1]?.last, true);
  assert.deepEqual([...adapter('tic-tac-toe').targets(['c3'], null)], [['c3', ['c3']]]);
});

test('connect four is drawn with row 1 at the bottom, and a column is pressed anywhere in it', () => {
  const grid = rows(7, 6);
  grid[0]![2] = 0;
  grid[1]![2] = 1;
  const board = drawn('connect-four', { board: grid }, 1, '3');
  assert.equal(board.rows.at(-1)?.[2]?.id, 'c1');
  assert.equal(board.rows.at(-1)?.[2]?.mark?.says, 'red disc');
  assert.deepEqual(board.rows.flat().filter((cell) => cell.last).map((cell) => cell.id), ['c2']);
  const targets = adapter('connect-four').targets(['3', '7'], null);
  assert.deepEqual(targets.get('c6'), ['3']);
  assert.deepEqual(targets.get('g1'), ['7']);
  assert.equal(targets.size, 12);
});

test('reversi tells its score, and a pass is no cell', () => {
  const grid = rows(8, 8);
  grid[3]![3] = 1;
  grid[3]![4] = 0;
  grid[4]![3] = 0;
  assert.equal(drawn('reversi', { board: grid, scores: [2, 1] }).note, 'Black 2 – White 1');
  assert.equal(drawn('reversi', { board: grid }).note, 'Black 2 – White 1');
  assert.equal(adapter('reversi').targets(['pass'], null).size, 0);
});

const FEN = 'rnbqkbnr/ppppp2p/8/5ppQ/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 3';

test('chess is drawn from the side of whoever plays', () => {
  const white = drawn('chess', { fen: FEN, check: true, last: 'd1h5' }, 0);
  assert.equal(white.rows[0]?.[0]?.id, 'a8');
  assert.equal(white.rows[7]?.[4]?.mark?.says, 'white king');
  assert.equal(white.rows[7]?.[0]?.dark, true);
  assert.deepEqual(white.rows.flat().filter((cell) => cell.alert).map((cell) => cell.id), ['e8']);
  assert.deepEqual(white.rows.flat().filter((cell) => cell.last).map((cell) => cell.id), ['h5', 'd1']);
  assert.equal(white.note, 'Check');
  const black = drawn('chess', { fen: FEN }, 1);
  assert.equal(black.rows[0]?.[0]?.id, 'h1');
  assert.equal(black.rows[7]?.[7]?.id, 'a8');
});

test('a chess piece is taken up and put down, and a promotion asks for its piece', () => {
  const chess = adapter('chess');
  const legal = ['e7e8q', 'e7e8n', 'a2a3'];
  assert.deepEqual([...(chess.sources?.(legal) ?? [])], ['e7', 'a2']);
  assert.equal(chess.targets(legal, null).size, 0);
  assert.deepEqual([...chess.targets(legal, 'e7')], [['e8', ['e7e8q', 'e7e8n']]]);
  assert.equal(chess.choice?.('e7e8n'), 'knight');
  assert.equal(chess.say('e7e8q'), 'e7 to e8, promoted to queen');
});

test('a state of another shape is drawn by no adapter', () => {
  for (const gameId of ['tic-tac-toe', 'connect-four', 'reversi', 'chess']) {
    for (const state of [null, {}, { board: 'x' }, { board: [[0]] }, { fen: 'x' }, { fen: `${FEN.replace('8', '9')}` }]) {
      assert.equal(adapter(gameId).board(state, 0, null), null);
    }
  }
  assert.equal(adapterOf('toString'), null);
});
