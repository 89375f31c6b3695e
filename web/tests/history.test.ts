import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterOf, loadGame } from '../src/frame/boards';
import { Controller } from '../src/frame/controller';
import { matchAt, notesOf, shownMatch } from '../src/frame/history';
import type { Match } from '../src/frame/play';
import { BUILT_IN } from '../src/frame/words/locale';
import { FakeBrowser, moved, snapshot } from './fake-browser';

const CHESS = { fen: 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' };
const chess = (fields: object) => snapshot({ gameId: 'chess', state: CHESS, ...fields });

async function connected() {
  const browser = new FakeBrowser();
  const controller = new Controller(browser, { send: () => {} });
  controller.setToken('t');
  await browser.pass(0);
  browser.newest.open();
  const match = (): Match => {
    const shown = controller.published.play.match;
    assert.ok(shown);
    return shown;
  };
  return { browser, controller, match };
}

test('messages about a game wait until it has been loaded', async () => {
  const { browser, controller, match } = await connected();
  browser.newest.deliver(chess({ legalMoves: ['e2e4'] }));
  browser.newest.deliver(moved({ move: 'e2e4', state: CHESS, legalMoves: ['e7e5'] }));
  assert.equal(controller.published.play.match, null, 'chess has not been loaded');
  await loadGame('chess', () => {});
  await browser.pass(0);
  assert.deepEqual(match().moves, ['e2e4']);
  assert.equal(match().ply, 1);
});

test('a move that is being sent is on the board at once', async () => {
  const { browser, controller } = await connected();
  await loadGame('chess', () => {});
  browser.newest.deliver(chess({ legalMoves: ['e2e4'] }));
  const board = (past: number | null) => {
    const shown = shownMatch(controller.published.play, past);
    const { state, you, lastMove } = shown ?? assert.fail();
    const rows = adapterOf('chess')?.board(state, you, lastMove?.move ?? null)?.rows.flat() ?? [];
    return rows.filter(({ mark, last }) => mark?.side === 0 && last).map(({ id }) => id);
  };
  assert.deepEqual(board(null), []);
  controller.move('e2e4');
  assert.deepEqual(board(null), ['e4']);
  assert.deepEqual(shownMatch(controller.published.play, null)?.legalMoves, []);
  assert.deepEqual(board(0), [], 'an earlier position does not have it');
  browser.newest.deliver({ type: 'error', reason: 'rate_limited', ref: 'mat_1' });
  assert.deepEqual(board(null), [], 'a refused move is taken back');
});

test('the moves of a snapshot are listed after the page was loaded again', async () => {
  const { browser, match } = await connected();
  const moves = ['e2e4', 'd7d5', 'e4d5', 'd8d5', 'b1c3', 'd5e5'];
  browser.newest.deliver(chess({ ply: 6, moves, state: { fen: 'the newest', check: true } }));
  const notes = notesOf(match(), BUILT_IN).map(({ text }) => text);
  assert.deepEqual(notes, ['e4', 'd5', 'exd5', 'Qxd5', 'Nc3', 'Qe5+']);
  assert.deepEqual(match().lastMove, { by: 1, move: 'd5e5' });
  const captured = adapterOf('chess')?.board(matchAt(match(), 4).state, 0, null)?.captured;
  assert.deepEqual(
    captured?.map(({ shapes }) => shapes),
    [['p'], ['p']],
  );
});

test('a player steps through the moves, nothing is sent, and a new move ends it', async () => {
  const { browser, controller, match } = await connected();
  const moves = ['e2e4', 'd7d5', 'e4d5'];
  browser.newest.deliver(chess({ ply: 3, turn: 1, moves, state: CHESS }));
  const sent = browser.newest.sent.length;
  const past = () => controller.published.past;
  controller.step(1);
  assert.equal(past(), null, 'there is no later move');
  controller.step(-1);
  assert.equal(past(), 2);
  assert.equal(controller.published.announced.at(-1)?.text, 'Move 2 of 3: d7 to d5');
  assert.deepEqual(matchAt(match(), 2).legalMoves, []);
  controller.step(-Infinity);
  controller.step(-1);
  assert.equal(past(), 0);
  controller.look(2);
  controller.refusePress();
  assert.equal(past(), null, 'a press on an old position leads to the newest one');
  controller.step(-1);
  browser.newest.deliver(moved({ ply: 4, by: 1, move: 'd8d5', turn: 0, state: CHESS }));
  assert.equal(past(), null);
  assert.equal(browser.newest.sent.length, sent);
});

test('of a very long match the newest moves are listed, and none is stepped to', async () => {
  const { browser, controller, match } = await connected();
  browser.newest.deliver(chess({ ply: 1001, moves: ['g1f3'], state: CHESS }));
  const listed = { ply: 1000, text: 'g1 to f3' };
  assert.deepEqual(notesOf(match(), BUILT_IN), [listed]);
  controller.step(-1);
  assert.equal(controller.published.past, null);
});
