import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Controller } from '../src/frame/controller';
import { timeLeft } from '../src/frame/play';
import { headline } from '../src/frame/words';
import { FakeBrowser, moved, refusal, snapshot } from './fake-browser';

type Message = Record<string, unknown>;

/** A frame whose socket is open. */
async function connected() {
  const browser = new FakeBrowser();
  const messages: Message[] = [];
  const controller = new Controller(browser, {
    send: (message) => messages.push(message as Message),
  });
  controller.setToken('t');
  await browser.pass(0);
  browser.newest.open();
  return {
    browser,
    controller,
    /** The messages to the host page, all or those of one type. */
    toPage: (type?: string) => messages.filter((one) => type === undefined || one.type === type),
    play: () => controller.published.play,
    headline: () => headline(controller.published.play),
    announced: () => controller.published.announced.text,
  };
}

test('the frame joins by itself, and waits while there is no match', async () => {
  const { browser, toPage, headline, announced } = await connected();
  assert.deepEqual(browser.newest.sent, [{ type: 'join' }]);
  browser.newest.deliver({ type: 'waiting', seatId: 'sea_1' });
  assert.equal(headline(), 'Waiting for an opponent…');
  assert.equal(announced(), 'Waiting for an opponent.');
  const none = { matchId: null, ply: null, turn: null, you: null };
  assert.deepEqual(toPage().at(-1), { type: 'pgs.state', status: 'waiting', ...none });
  browser.newest.deliver(snapshot());
  assert.equal(announced(), 'The match has started. You play X. Your turn.');
  const start = { matchId: 'mat_1', ply: 0, turn: 0, you: 0 };
  assert.deepEqual(toPage().at(-1), { type: 'pgs.state', status: 'started', ...start });
});

test('a move is sent once, and shown when the server has accepted it', async () => {
  const { browser, controller, play, headline, announced } = await connected();
  browser.newest.deliver(snapshot());
  controller.move('c3');
  controller.move('a1');
  controller.move('b2');
  const move = { type: 'move', matchId: 'mat_1', ply: 0, move: 'a1' };
  assert.deepEqual(browser.newest.sent.slice(1), [move]);
  assert.equal(headline(), 'Sending your move…');
  browser.newest.deliver(moved());
  assert.equal(play().pendingMove, null);
  assert.equal(announced(), 'You: a1. Opponent to move.');
  controller.move('b2');
  assert.equal(browser.newest.sent.length, 2);
});

test('a move is sent again after a lost connection, unless the server has it', async () => {
  const { browser, controller } = await connected();
  browser.newest.deliver(snapshot());
  controller.move('a1');
  browser.newest.lose(1006);
  await browser.pass(500);
  browser.newest.open();
  assert.deepEqual(browser.newest.sent, [{ type: 'join', matchId: 'mat_1' }]);
  browser.newest.deliver(snapshot());
  const move = { type: 'move', matchId: 'mat_1', ply: 0, move: 'a1' };
  assert.deepEqual(browser.newest.sent.at(-1), move);
  browser.newest.lose(1006);
  await browser.pass(1000);
  browser.newest.open();
  browser.newest.deliver(snapshot({ ply: 1, turn: 1, seq: 2 }));
  assert.deepEqual(browser.newest.sent, [{ type: 'join', matchId: 'mat_1' }]);
});

test('a refused move is taken back, and the frame joins again for the board', async () => {
  const { browser, controller, play } = await connected();
  browser.newest.deliver(snapshot());
  controller.move('a1');
  browser.newest.deliver({ type: 'error', reason: 'stale_ply', ref: 'mat_1' });
  assert.equal(play().pendingMove, null);
  assert.deepEqual(browser.newest.sent.at(-1), { type: 'join', matchId: 'mat_1' });
});

test('a message that is older than the board or about another match changes nothing', async () => {
  const { browser, play } = await connected();
  browser.newest.deliver(snapshot({ seq: 5, ply: 2 }));
  const before = play().match;
  browser.newest.deliver(moved({ seq: 5 }));
  browser.newest.deliver(moved({ seq: 9, matchId: 'mat_2' }));
  browser.newest.deliver(snapshot({ matchId: 'mat_2', seq: 9 }));
  browser.newest.deliver({ type: 'waiting' });
  assert.equal(play().match, before);
});

test('a result stays on the screen until the next match, which the frame asks for', async () => {
  const { browser, toPage, headline, announced } = await connected();
  browser.newest.deliver(snapshot());
  const end = { matchId: 'mat_1', outcome: 'ended', result: 'won', endReason: 'completed' };
  browser.newest.deliver({ type: 'ended', seq: 2, ...end });
  assert.equal(announced(), 'You won.');
  assert.deepEqual(toPage('pgs.ended'), [{ type: 'pgs.ended', ...end }]);
  assert.equal(toPage().at(-2)?.status, 'ended');
  await browser.pass(4000);
  assert.deepEqual(browser.newest.sent.at(-1), { type: 'join' });
  browser.newest.deliver({ type: 'waiting' });
  assert.equal(headline(), 'You won.');
  browser.newest.deliver(snapshot({ matchId: 'mat_2' }));
  assert.equal(headline(), 'Your turn');
});

test('a match that ended while the connection was lost is shown with its end', async () => {
  const { browser, toPage, headline } = await connected();
  browser.newest.deliver(snapshot());
  browser.newest.lose(1006);
  await browser.pass(500);
  browser.newest.open();
  const end = { status: 'ended', result: 'lost', endReason: 'forfeit_timeout' };
  browser.newest.deliver(snapshot({ ...end, legalMoves: [] }));
  assert.equal(headline(), 'You lost on time.');
  assert.equal(toPage('pgs.ended').length, 1);
});

test('a match that is no longer there makes way for the next one', async () => {
  const { browser, play } = await connected();
  browser.newest.deliver(snapshot());
  browser.newest.lose(1006);
  await browser.pass(500);
  browser.newest.open();
  browser.newest.deliver({ type: 'error', reason: 'match_not_found' });
  assert.equal(play().match, null);
  assert.deepEqual(browser.newest.sent.at(-1), { type: 'join' });
});

test('the host page hears of each outage once, and of the end of the session', async () => {
  const { browser, toPage, announced } = await connected();
  browser.answer = () => refusal(503, { reason: 'registry_unavailable' });
  browser.newest.lose(4503);
  await browser.pass(5000);
  const outage = { type: 'pgs.error', reason: 'registry_unavailable' };
  assert.deepEqual(toPage('pgs.error'), [outage]);
  browser.answer = () => refusal(401);
  await browser.pass(20_000);
  assert.deepEqual(toPage().at(-1), { type: 'pgs.error', reason: 'session_invalid' });
  assert.match(announced(), /session is not valid/);
});

test('the player hears that the opponent leaves and comes back', async () => {
  const { browser, announced } = await connected();
  browser.newest.deliver(snapshot());
  const presence = { type: 'presence', matchId: 'mat_1' };
  const bob = { playerId: 'bob' };
  browser.newest.deliver({ ...presence, seq: 2, opponent: { ...bob, connected: false } });
  assert.equal(announced(), 'Opponent is offline.');
  const back = { seq: 3, opponent: { ...bob, connected: true }, deadlineAtMs: 5 };
  browser.newest.deliver({ ...presence, ...back });
  assert.equal(announced(), 'Opponent is online.');
});

test('the clock of the side to move runs to the deadline, the other clock stands', async () => {
  const { browser, play } = await connected();
  const clocks = { deadlineAtMs: browser.time + 300_000, remainingMs: [300_000, 240_000] };
  browser.newest.deliver(snapshot({ gameId: 'chess', ...clocks }));
  assert.equal(timeLeft({ ...play(), aheadMs: 0 }, 0, browser.time + 60_000), 240_000);
  assert.equal(timeLeft({ ...play(), aheadMs: 60_000 }, 0, browser.time), 240_000);
  assert.equal(timeLeft(play(), 1, browser.time), 240_000);
});

test('the token in use changes nothing, and another token connects anew', async () => {
  const { browser, controller } = await connected();
  controller.setToken('t');
  await browser.pass(0);
  assert.equal(browser.sockets.length, 1);
  controller.setToken('u');
  await browser.pass(0);
  assert.deepEqual(browser.newest.protocols[1], 'pgs.token.u');
});

test('a join that is refused in an outage is tried again', async () => {
  const { browser, toPage } = await connected();
  browser.newest.deliver({ type: 'error', reason: 'registry_unavailable' });
  assert.equal(browser.newest.sent.length, 1);
  await browser.pass(2000);
  assert.deepEqual(browser.newest.sent, [{ type: 'join' }, { type: 'join' }]);
  assert.deepEqual(toPage('pgs.error'), []);
});
