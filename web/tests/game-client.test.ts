import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GameClient } from '../src/frame/game-client';
import type { SocketState } from '../src/frame/game-client';
import type { ServerMessage } from '../src/frame/protocol';
import { FakeBrowser, refusal, session } from './fake-browser';

function makeClient(browser: FakeBrowser, accepted = true) {
  const states: SocketState[] = [];
  const messages: ServerMessage[] = [];
  let ahead = NaN;
  const client = new GameClient(browser, {
    onSocketState: (state) => states.push(state),
    accepts: () => accepted,
    onSession: (_session, aheadMs) => {
      ahead = aheadMs;
    },
    onMessage: (message) => messages.push(message),
  });
  return { client, states, messages, ahead: () => ahead, state: () => states.at(-1) };
}

test('the session is checked before the socket opens, and no URL contains the token', async () => {
  const browser = new FakeBrowser();
  const { client, state } = makeClient(browser);
  client.start('pgs1.abc');
  assert.equal(browser.sockets.length, 0);
  await browser.pass(0);
  const headers = { Authorization: 'Bearer pgs1.abc', Accept: 'application/json' };
  assert.deepEqual(browser.calls, [{ url: '/game/session', headers }]);
  assert.equal(browser.newest.path, '/game/socket');
  assert.deepEqual(browser.newest.protocols, ['pgs.game.v1', 'pgs.token.pgs1.abc']);
  browser.newest.open();
  assert.deepEqual(state(), { kind: 'open' });
});

for (const [code, reason] of [
  [4401, 'session_expired'],
  [4403, 'session_ended'],
  [4409, 'session_replaced'],
] as const) {
  test(`the client does not reconnect after close code ${code}`, async () => {
    const browser = new FakeBrowser();
    const { client, state } = makeClient(browser);
    client.start('t');
    await browser.pass(0);
    browser.newest.open();
    browser.newest.lose(code);
    await browser.pass(600_000);
    assert.deepEqual(state(), { kind: 'stopped', reason });
    assert.equal(browser.sockets.length, 1);
    client.start('another');
    await browser.pass(0);
    assert.equal(browser.sockets.length, 2);
  });
}

test('a refused session stops the client, with the reason that the answer gives', async () => {
  for (const [answer, reason] of [
    [refusal(401), 'session_invalid'],
    [refusal(403, { reason: 'partner_inactive' }), 'partner_inactive'],
  ] as const) {
    const browser = new FakeBrowser();
    browser.answer = () => answer;
    const { client, state } = makeClient(browser);
    client.start('t');
    await browser.pass(600_000);
    assert.deepEqual(state(), { kind: 'stopped', reason });
    assert.equal(browser.calls.length, 1);
  }
});

test('after a server stop the client reconnects at once, but only once in a row', async () => {
  const browser = new FakeBrowser();
  const { client, state } = makeClient(browser);
  client.start('t');
  await browser.pass(0);
  browser.newest.open();
  browser.newest.lose(1001);
  await browser.pass(0);
  assert.equal(browser.sockets.length, 2);
  browser.newest.open();
  browser.newest.lose(1001);
  await browser.pass(0);
  assert.equal(browser.sockets.length, 2);
  assert.equal(state()?.kind, 'retrying');
  await browser.pass(500);
  assert.equal(browser.sockets.length, 3);
});

test('waits double up to fifteen seconds, and start over after a stable connection', async () => {
  const browser = new FakeBrowser();
  const { client } = makeClient(browser);
  client.start('t');
  const waits: number[] = [];
  await browser.pass(0);
  for (let loss = 0; loss < 7; loss += 1) {
    browser.newest.lose(1006);
    const [before, lostAt] = [browser.sockets.length, browser.time];
    while (browser.sockets.length === before) await browser.pass(100);
    waits.push(browser.time - lostAt);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  browser.newest.open();
  await browser.pass(10_000);
  browser.newest.lose(4503);
  const before = browser.sockets.length;
  await browser.pass(500);
  assert.equal(browser.sockets.length, before + 1);
});

test('after an outage the client tries again, no sooner than Retry-After says', async () => {
  const browser = new FakeBrowser();
  const { client, state } = makeClient(browser);
  browser.answer = () => Promise.reject(new TypeError('network'));
  client.start('t');
  await browser.pass(0);
  assert.deepEqual(state(), { kind: 'retrying', reason: 'connection_lost' });
  browser.answer = () => refusal(429, { reason: 'rate_limited' }, { 'Retry-After': '7' });
  await browser.pass(500);
  assert.deepEqual(state(), { kind: 'retrying', reason: 'rate_limited' });
  browser.answer = () => session();
  await browser.pass(6900);
  assert.equal(browser.sockets.length, 0);
  await browser.pass(100);
  browser.newest.open();
  assert.equal(state()?.kind, 'open');
});

test('a call, a handshake or a ping without an answer ends the attempt', async () => {
  const browser = new FakeBrowser();
  const { client, state } = makeClient(browser);
  browser.answer = () => new Promise(() => {});
  client.start('t');
  await browser.pass(9_900);
  assert.equal(state()?.kind, 'connecting');
  await browser.pass(100);
  assert.equal(state()?.kind, 'retrying');
  browser.answer = () => session();
  client.start('t');
  await browser.pass(0);
  assert.equal(state()?.kind, 'connecting');
  await browser.pass(10_000);
  assert.equal(state()?.kind, 'retrying');
  await browser.pass(500);
  browser.newest.open();
  await browser.pass(20_000);
  assert.equal(browser.newest.sent.at(-1)?.type, 'ping');
  await browser.pass(20_000);
  assert.equal(state()?.kind, 'retrying');
});

test('an unknown message changes nothing', async () => {
  const browser = new FakeBrowser();
  const { client, messages } = makeClient(browser);
  client.start('t');
  await browser.pass(0);
  browser.newest.open();
  for (const data of ['{', '[]', '{"type":"news"}', '{"type":"toString"}', '{"type":"moved"}']) {
    browser.newest.onmessage?.({ data });
  }
  assert.deepEqual(messages, [{ type: 'welcome' }]);
});

test('the difference to the clock of the server is taken from the Date header', async () => {
  const browser = new FakeBrowser();
  browser.answer = () => {
    const answer = session();
    answer.headers.set('Date', new Date(browser.time + 60_000).toUTCString());
    return answer;
  };
  const { client, ahead } = makeClient(browser);
  client.start('t');
  await browser.pass(0);
  assert.ok(ahead() >= 60_000 && ahead() <= 61_000, String(ahead()));
});

test('events of an old socket are ignored', async () => {
  const browser = new FakeBrowser();
  const { client, messages, state } = makeClient(browser);
  client.start('old');
  await browser.pass(0);
  const old = browser.newest;
  old.open();
  client.start('new');
  await browser.pass(0);
  browser.newest.open();
  old.deliver({ type: 'waiting' });
  old.lose(4409);
  assert.deepEqual(messages.map((message) => message.type), ['welcome', 'welcome']);
  assert.equal(state()?.kind, 'open');
  assert.equal(old.readyState, 3);
});

test('a session that is not of this document opens no socket', async () => {
  const browser = new FakeBrowser();
  const { client, state } = makeClient(browser, false);
  client.start('t');
  await browser.pass(0);
  assert.deepEqual(state(), { kind: 'stopped', reason: 'session_mismatch' });
  assert.equal(browser.sockets.length, 0);
});
