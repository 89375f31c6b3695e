import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGame } from '../src/frame/boards';
import { Controller } from '../src/frame/controller';
import { timeLeft } from '../src/frame/play';
import { howText, resultText } from '../src/frame/sentences';
import { BUILT_IN } from '../src/frame/words/locale';
import { FakeBrowser, moved, refusal, snapshot } from './fake-browser';

await loadGame('tic-tac-toe', () => {});
await loadGame('chess', () => {});

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
    result: () => {
      const { play } = controller.published;
      if (play.ending === null) return null;
      const how = howText(play.ending, play.match, BUILT_IN);
      return `${resultText(play, play.ending, BUILT_IN)}. ${how}`;
    },
    /** What was announced, without the marks around names. */
    announced: () =>
      controller.published.announced.map(({ text }) => text.replace(/[\u2068\u2069]/g, '')),
  };
}

test('the frame joins by itself, and waits while there is no match', async () => {
  const { browser, toPage, announced } = await connected();
  assert.deepEqual(browser.newest.sent, [{ type: 'join' }]);
  browser.newest.deliver({ type: 'waiting', seatId: 'sea_1' });
  assert.deepEqual(announced(), ['Waiting for an opponent']);
  const none = { matchId: null, ply: null, turn: null, you: null };
  assert.deepEqual(toPage().at(-1), { type: 'pgs.state', status: 'waiting', ...none });
  browser.newest.deliver(snapshot());
  assert.deepEqual(announced().slice(1), ['The match has started. You play X.', 'Your turn.']);
  const start = { matchId: 'mat_1', ply: 0, turn: 0, you: 0 };
  assert.deepEqual(toPage().at(-1), { type: 'pgs.state', status: 'playing', ...start });
});

test('a move is sent once, and shown when the server has accepted it', async () => {
  const { browser, controller, play, announced } = await connected();
  browser.newest.deliver(snapshot());
  controller.move('c3');
  controller.move('a1');
  controller.move('b2');
  const move = { type: 'move', matchId: 'mat_1', ply: 0, move: 'a1' };
  assert.deepEqual(browser.newest.sent.slice(1), [move]);
  assert.notEqual(play().pendingMove, null);
  browser.newest.deliver(moved());
  assert.equal(play().pendingMove, null);
  assert.equal(announced().at(-1), 'You: a1. Opponent to move.');
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
  browser.newest.deliver({ type: 'waiting' });
  assert.equal(play().match, before);
});

test('a result stays on the screen until the next match, which the frame asks for', async () => {
  const { browser, toPage, play, result, announced } = await connected();
  browser.newest.deliver(snapshot());
  const end = { matchId: 'mat_1', outcome: 'ended', result: 'won', endReason: 'completed' };
  const due = { dueUsdCents: 900 };
  browser.newest.deliver({ type: 'ended', seq: 2, ...end, ...due });
  assert.equal(announced().at(-1), 'You won $9.00. Three in a row.');
  assert.deepEqual(toPage('pgs.ended'), [{ type: 'pgs.ended', ...end, ...due }]);
  assert.equal(toPage().at(-2)?.status, 'ended');
  await browser.pass(4000);
  assert.deepEqual(browser.newest.sent.at(-1), { type: 'join' });
  browser.newest.deliver({ type: 'waiting' });
  assert.equal(result(), 'You won $9.00. Three in a row.');
  browser.newest.deliver(snapshot({ matchId: 'mat_2' }));
  assert.equal(result(), null);
  assert.equal(play().match?.matchId, 'mat_2');
});

test('a match that ended while the connection was lost is shown with its end', async () => {
  const { browser, toPage, result } = await connected();
  browser.newest.deliver(snapshot());
  browser.newest.lose(1006);
  await browser.pass(500);
  browser.newest.open();
  const end = { status: 'ended', result: 'lost', endReason: 'forfeit_timeout' };
  browser.newest.deliver(snapshot({ ...end, legalMoves: [] }));
  assert.equal(result(), 'You lost. Your time has run out.');
  browser.newest.deliver({ type: 'ended', matchId: 'mat_1', seq: 3, outcome: 'ended', ...end });
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
  assert.match(announced().at(-1) ?? '', /session is not valid/);
});

test('the player hears that the opponent leaves and comes back', async () => {
  const { browser, announced } = await connected();
  browser.newest.deliver(snapshot());
  const presence = { type: 'presence', matchId: 'mat_1' };
  const bob = { playerId: 'bob' };
  browser.newest.deliver({ ...presence, seq: 2, opponent: { ...bob, connected: false } });
  assert.equal(announced().at(-1), 'Opponent has lost the connection.');
  const back = { seq: 3, opponent: { ...bob, connected: true }, deadlineAtMs: 5 };
  browser.newest.deliver({ ...presence, ...back });
  assert.equal(announced().at(-1), 'Opponent is here.');
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

test('a session of another partner or environment is refused', async () => {
  for (const [uid, environment, taken] of [
    ['ptr:test:acme:alice', 'test', true],
    ['ptr:test:other:alice', 'test', false],
    ['ptr:live:acme:alice', 'live', false],
    [undefined, 'test', false],
  ] as const) {
    const browser = new FakeBrowser();
    browser.answer = () =>
      Response.json({ playerId: 'alice', gameId: 'chess', playerUid: uid, environment });
    const sent: Message[] = [];
    const page = { send: (message: object) => void sent.push(message as Message) };
    const document = { partnerId: 'acme', environment: 'test', origins: [], theme: null };
    new Controller(browser, page, document).setToken('t');
    await browser.pass(0);
    assert.equal(browser.sockets.length, taken ? 1 : 0);
    const refused = [{ type: 'pgs.error', reason: 'session_mismatch' }];
    assert.deepEqual(sent, taken ? [] : refused);
  }
});

test('a session without a paid seat is told apart from one that waits', async () => {
  const { browser, toPage, announced } = await connected();
  browser.newest.deliver({ type: 'no_seat' });
  assert.equal(toPage().at(-1)?.status, 'no_seat');
  assert.match(announced().at(-1) ?? '', /Nothing has been paid/);
  browser.newest.deliver({ type: 'waiting', seatId: 'sea_1' });
  assert.equal(toPage().at(-1)?.status, 'waiting');
});

test('low time is announced once in a turn', async () => {
  const { browser, controller, announced } = await connected();
  browser.newest.deliver(snapshot({ deadlineAtMs: browser.time + 30_000 }));
  await browser.pass(19_999 - controller.published.play.aheadMs);
  assert.equal(controller.published.low, false);
  await browser.pass(5_000);
  assert.equal(controller.published.low, true);
  const low = announced().filter((text) => text.includes('seconds left'));
  assert.deepEqual(low, ['10 seconds left.']);
  browser.newest.deliver(moved());
  assert.equal(controller.published.low, false);
});

test('a press that plays nothing is answered', async () => {
  const { browser, controller, announced } = await connected();
  controller.refusePress();
  assert.equal(controller.published.refusal, null);
  browser.newest.deliver(snapshot({ turn: 1 }));
  controller.refusePress();
  assert.equal(controller.published.refusal, 'notYours.hint');
  assert.equal(announced().at(-1), 'It is not your turn yet.');
  browser.newest.deliver(moved({ by: 1, turn: 0 }));
  assert.equal(controller.published.refusal, null);
});

test('a player of several matches sees them all and chooses', async () => {
  const { browser, controller, play, toPage, announced } = await connected();
  browser.newest.deliver(snapshot());
  browser.newest.deliver(snapshot({ matchId: 'mat_2', turn: 1 }));
  assert.deepEqual(
    play().others.map((match) => match.matchId),
    ['mat_2'],
  );
  browser.newest.deliver(moved({ matchId: 'mat_2', by: 1, turn: 0 }));
  assert.equal(announced().at(-1), 'In another match: Opponent: your turn');
  controller.switchTo('mat_2');
  assert.equal(play().match?.ply, 1);
  assert.deepEqual(
    play().others.map((match) => match.matchId),
    ['mat_1'],
  );
  const end = { outcome: 'ended', result: 'lost', endReason: 'resigned' };
  browser.newest.deliver({ type: 'ended', matchId: 'mat_1', seq: 9, ...end });
  assert.equal(play().ending, null);
  assert.deepEqual(play().others, []);
  assert.equal(toPage('pgs.ended')[0]?.matchId, 'mat_1');
});

test('the page is asked once for another match, and the frame then shows its seat', async () => {
  const { browser, controller, play, toPage } = await connected();
  browser.newest.deliver(snapshot());
  browser.newest.deliver({ type: 'ended', matchId: 'mat_1', seq: 2, outcome: 'ended' });
  controller.playAgain();
  assert.deepEqual(toPage('pgs.again'), []);
  controller.setAgain(true);
  controller.playAgain();
  controller.playAgain();
  assert.deepEqual(toPage('pgs.again'), [{ type: 'pgs.again' }]);
  assert.equal(controller.published.again, 'asked');
  browser.newest.deliver({ type: 'waiting', seatId: 'sea_2' });
  assert.equal(play().ending, null);
  assert.equal(toPage().at(-1)?.status, 'waiting');
  assert.equal(controller.published.again, 'offered');
});

test('nothing that is announced overwrites what was announced before', async () => {
  const { browser, controller } = await connected();
  browser.newest.deliver(snapshot());
  const before = controller.published.announced;
  browser.newest.deliver(moved());
  const after = controller.published.announced;
  assert.deepEqual(after.slice(0, before.length), before);
  assert.equal(new Set(after.map(({ id }) => id)).size, after.length);
});

test('no clock shows more than is left, although the server tells whole seconds only', async () => {
  const { browser, controller, play } = await connected();
  // The server's clock stands at 7.9 s, and its Date header says 7.
  browser.answer = () =>
    Response.json(
      { playerId: 'alice', gameId: 'chess' },
      { headers: { Date: new Date(7000).toUTCString() } },
    );
  controller.setToken('u');
  await browser.pass(0);
  browser.newest.open();
  browser.newest.deliver(snapshot({ deadlineAtMs: 37_900 }));
  const left = timeLeft(play(), 0, browser.time) ?? Infinity;
  assert.ok(left <= 30_000, String(left));
  assert.equal(BUILT_IN.clock(left), '0:30');
});

test('the host page hears of the height that the frame needs, once', async () => {
  const { controller, toPage } = await connected();
  controller.needsHeight(640);
  controller.needsHeight(640);
  assert.deepEqual(toPage('pgs.size'), [{ type: 'pgs.size', height: 640 }]);
});
