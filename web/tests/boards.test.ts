import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterOf, loadGame } from '../src/frame/boards';
import { promotionKey } from '../src/frame/boards/promotion';
import type { Adapter, Board, Cell } from '../src/frame/boards/types';
import type { Side } from '../src/frame/protocol';

for (const gameId of ['reversi', 'chess']) await loadGame(gameId, () => {});

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

test('tic-tac-toe is drawn with row 1 at the bottom', () => {
  const cells = [[0, null, null], [null, 1, null], [null, null, null]];
  const board = boardOf('tic-tac-toe', { board: cells, line: ['a1'] }, 0, 'b2');
  const seen = (cell: Cell) => [cell.id, cell.mark?.label ?? null, cell.highlight];
  assert.deepEqual(board.rows[2]?.map(seen), [
    ['a1', 'mark.tic-tac-toe.0', 'line'],
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
  assert.equal(board.rows.at(-1)?.[2]?.mark?.label, 'mark.connect-four.0');
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
  assert.deepEqual(boardOf('reversi', { board: cells, scores: [2, 1] }).counts, [2, 1]);
  assert.deepEqual(boardOf('reversi', { board: cells }).counts, [2, 1]);
  assert.equal(adapter('reversi').targets(['pass'], null).size, 0);
});

const FEN = 'rnbqkbnr/ppppp2p/8/5ppQ/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 3';

test('chess is drawn from the side of the player', () => {
  const white = boardOf('chess', { fen: FEN, check: true, last: 'd1h5' }, 0);
  assert.equal(white.rows[0]?.[0]?.id, 'a8');
  assert.equal(white.rows[7]?.[4]?.mark?.label, 'mark.chess.K');
  assert.equal(white.rows[7]?.[0]?.dark, true);
  assert.deepEqual(idsWhere(white, (cell) => cell.highlight === 'check'), ['e8']);
  assert.deepEqual(idsWhere(white, (cell) => cell.last), ['h5', 'd1']);
  assert.equal(white.check, true);
  assert.deepEqual(white.captured?.[0], { shapes: [], lead: 0 });
  const ahead = boardOf('chess', { fen: FEN.replace('ppppp2p', 'ppp3pp') }, 0).captured;
  assert.deepEqual(ahead?.[0], { shapes: ['p'], lead: 1 });
  const black = boardOf('chess', { fen: FEN }, 1);
  assert.equal(black.rows[0]?.[0]?.id, 'h1');
  assert.equal(black.rows[7]?.[7]?.id, 'a8');
});

test('a castled king and its rook both know where they came from', () => {
  const origins = (fen: string, last: string, you: Side = 0) =>
    Object.fromEntries(
      boardOf('chess', { fen, last }, you)
        .rows.flat()
        .filter((cell) => cell.from !== undefined)
        .map((cell) => [cell.id, cell.from]),
    );
  assert.deepEqual(origins('8/8/8/8/8/8/8/5RK1 b', 'e1g1'), { f1: 'h1', g1: 'e1' });
  assert.deepEqual(origins('2kr4/8/8/8/8/8/8/8 w', 'e8c8', 1), { c8: 'e8', d8: 'a8' });
  assert.deepEqual(origins('8/8/8/8/8/8/8/5K2 b', 'e1f1'), { f1: 'e1' });
  assert.deepEqual(origins('8/8/8/8/8/8/8/6R1 b', 'e1g1'), { g1: 'e1' });
  assert.deepEqual(origins('8/8/8/8/8/8/8/6R1 b', ''), {});
});

test('a chess piece is picked up and put down, and a promotion asks for its piece', () => {
  const chess = adapter('chess');
  const legal = ['e7e8q', 'e7e8n', 'a2a3'];
  assert.deepEqual([...(chess.sources?.(legal) ?? [])], ['e7', 'a2']);
  assert.equal(chess.targets(legal, null).size, 0);
  assert.deepEqual([...chess.targets(legal, 'e7')], [['e8', ['e7e8q', 'e7e8n']]]);
  const sent = ['e7e8b', 'e7e8n', 'e7e8q', 'e7e8r'];
  const asked = chess.targets(sent, 'e7').get('e8');
  assert.deepEqual(asked, ['e7e8q', 'e7e8n', 'e7e8r', 'e7e8b'], 'the queen is the first choice');
  assert.equal(promotionKey('e7e8n'), 'piece.n');
  const parameters = { from: 'e7', to: 'e8', piece: 'piece.q' };
  assert.deepEqual(chess.say('e7e8q'), { key: 'move.promotion', parameters });
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

test('chess moves are noted as chess players write them', () => {
  const chess = adapter('chess');
  const noted = (fen: string, move: string, over = false): string => {
    const side = fen.includes(' w ') ? 0 : 1;
    return chess.note?.(move, { fen }, chess.after({ fen }, move, side), over) ?? '';
  };
  const start = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
  assert.equal(noted(start, 'e2e4'), 'e4');
  assert.equal(noted(start, 'g1f3'), 'Nf3');
  const open = '4k3/1P6/8/3p4/4P3/8/8/R3K2R w KQ - 0 1';
  assert.equal(noted(open, 'e4d5'), 'exd5');
  assert.equal(noted(open, 'e1g1'), 'O-O');
  assert.equal(noted(open, 'e1c1'), 'O-O-O');
  assert.equal(noted(open, 'b7b8q'), 'b8=Q+');
  assert.equal(noted(open, 'b7b8q', true), 'b8=Q#');
  const rank = '4k3/8/8/8/8/8/4K3/R6R w - - 0 1';
  assert.equal(noted(rank, 'a1d1'), 'Rad1');
  const file = '4k3/8/8/R7/8/8/8/R3K3 w - - 0 1';
  assert.equal(noted(file, 'a1a3'), 'R1a3');
  const both = 'k7/8/8/8/7Q/8/8/K3Q2Q w - - 0 1';
  assert.equal(noted(both, 'h1e4'), 'Qh1e4+');
  // The other knight is pinned, so it is no rival.
  const pinned = '4k3/8/8/8/4r3/8/4N3/4K1N1 w - - 0 1';
  assert.equal(noted(pinned, 'g1f3'), 'Nf3');
  const passing = '4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1';
  assert.equal(noted(passing, 'e5d6'), 'exd6');
  assert.deepEqual(chess.after({ fen: passing }, 'e5d6', 0), {
    fen: '....k.../......../...P..../......../......../......../......../....K... b',
    check: false,
  });
});

test('every game can be drawn before its first move', () => {
  for (const gameId of ['tic-tac-toe', 'connect-four', 'reversi', 'chess']) {
    assert.ok(adapter(gameId).board(adapter(gameId).start, 0, null), gameId);
  }
});
