import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection } from '../src/frame/connection';
import type { Link } from '../src/frame/connection';
import type { ServerMessage } from '../src/frame/protocol';
import { refusal, session, Stage } from './stage';

function connect(stage: Stage) {
  const links: Link[] = [];
  const heard: ServerMessage[] = [];
  let ahead = NaN;
  const connection = new Connection(stage, {
    link: (link) => links.push(link),
    session: (_session, aheadMs) => {
      ahead = aheadMs;
    },
    message: (message) => heard.push(message),
  });
  return { connection, links, heard, ahead: () => ahead, last: () => links.at(-1) };
}

test('the session is checked before a socket is opened, and the token is in no address', async () => {
  const stage = new Stage();
  const { connection, last } = connect(stage);
  connection.start('pgs1.abc');
  assert.equal(stage.sockets.length, 0);
  await stage.pass(0);
  assert.deepEqual(stage.asked, [{ url: '/game/session', headers: { Authorization: 'Bearer pgs1.abc', Accept: 'application/json' } }]);
  assert.equal(stage.newest.url, '/game/socket');
  assert.deepEqual(stage.newest.protocols, ['pgs.game.v1', 'pgs.token.pgs1.abc']);
  stage.newest.open();
  assert.deepEqual(last(), { kind: 'open' });
});

for (const [code, reason] of [
  [4401, 'session_expired'],
  [4403, 'session_ended'],
  [4409, 'session_replaced'],
] as const) {
  test(`a close with ${code} is final`, async () => {
    const stage = new Stage();
    const { connection, last } = connect(stage);
    connection.start('t');
    await stage.pass(0);
    stage.newest.open();
    stage.newest.lose(code);
    await stage.pass(600_000);
    assert.deepEqual(last(), { kind: 'stopped', reason });
    assert.equal(stage.sockets.length, 1);
    connection.start('another');
    await stage.pass(0);
    assert.equal(stage.sockets.length, 2);
  });
}

test('a refused session is final, and says why where the answer does', async () => {
  for (const [answer, reason] of [
    [refusal(401), 'session_invalid'],
    [refusal(403, { reason: 'partner_inactive' }), 'partner_inactive'],
  ] as const) {
    const stage = new Stage();
    stage.answer = () => answer;
    const { connection, last } = connect(stage);
    connection.start('t');
    await stage.pass(600_000);
    assert.deepEqual(last(), { kind: 'stopped', reason });
    assert.equal(stage.asked.length, 1);
  }
});

test('a server that stops is come back to at once, but not over and over', async () => {
  const stage = new Stage();
  const { connection, last } = connect(stage);
  connection.start('t');
  await stage.pass(0);
  stage.newest.open();
  stage.newest.lose(1001);
  await stage.pass(0);
  assert.equal(stage.sockets.length, 2);
  stage.newest.open();
  stage.newest.lose(1001);
  await stage.pass(0);
  assert.equal(stage.sockets.length, 2);
  assert.equal(last()?.kind, 'retrying');
  await stage.pass(500);
  assert.equal(stage.sockets.length, 3);
});

test('losses are answered with growing waits up to fifteen seconds, and with the shortest again after a sound connection', async () => {
  const stage = new Stage();
  const { connection } = connect(stage);
  connection.start('t');
  const waits: number[] = [];
  await stage.pass(0);
  for (let loss = 0; loss < 7; loss += 1) {
    stage.newest.lose(1006);
    const [before, began] = [stage.sockets.length, stage.time];
    while (stage.sockets.length === before) await stage.pass(100);
    waits.push(stage.time - began);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  stage.newest.open();
  await stage.pass(10_000);
  stage.newest.lose(4503);
  const before = stage.sockets.length;
  await stage.pass(500);
  assert.equal(stage.sockets.length, before + 1);
});

test('an outage of the registry or of the network is tried again, no sooner than asked', async () => {
  const stage = new Stage();
  const { connection, links, last } = connect(stage);
  stage.answer = () => Promise.reject(new TypeError('network'));
  connection.start('t');
  await stage.pass(0);
  assert.deepEqual(last(), { kind: 'retrying', reason: 'connection_lost' });
  stage.answer = () => refusal(429, { reason: 'rate_limited' }, { 'Retry-After': '7' });
  await stage.pass(500);
  assert.deepEqual(last(), { kind: 'retrying', reason: 'rate_limited' });
  stage.answer = () => session();
  await stage.pass(6900);
  assert.equal(stage.sockets.length, 0);
  await stage.pass(100);
  stage.newest.open();
  assert.equal(links.at(-1)?.kind, 'open');
});

test('a server that answers nothing is given up after a while: a call, a handshake and a ping alike', async () => {
  const stage = new Stage();
  const { connection, last } = connect(stage);
  connection.start('t');
  await stage.pass(0);
  await stage.pass(10_000);
  assert.equal(last()?.kind, 'retrying');
  await stage.pass(500);
  stage.newest.open();
  await stage.pass(20_000);
  assert.equal(stage.newest.sent.at(-1)?.type, 'ping');
  await stage.pass(20_000);
  assert.equal(last()?.kind, 'retrying');
});

test('a message that this frame does not know changes nothing', async () => {
  const stage = new Stage();
  const { connection, heard } = connect(stage);
  connection.start('t');
  await stage.pass(0);
  stage.newest.open();
  for (const data of ['{', '[]', '{"type":"news"}', '{"type":"toString"}', '{"type":"moved"}']) stage.newest.onmessage?.({ data });
  assert.deepEqual(heard, [{ type: 'welcome' }]);
});

test('the clock of the server is told by its Date header', async () => {
  const stage = new Stage();
  stage.answer = () => {
    const answer = session();
    answer.headers.set('Date', new Date(stage.time + 60_000).toUTCString());
    return answer;
  };
  const { connection, ahead } = connect(stage);
  connection.start('t');
  await stage.pass(0);
  assert.ok(Math.abs(ahead() - 60_000) <= 500, String(ahead()));
});

test('what an old socket still says is not listened to', async () => {
  const stage = new Stage();
  const { connection, heard, last } = connect(stage);
  connection.start('old');
  await stage.pass(0);
  const old = stage.newest;
  old.open();
  connection.start('new');
  await stage.pass(0);
  stage.newest.open();
  old.say({ type: 'waiting' });
  old.lose(4409);
  assert.deepEqual(heard.map((message) => message.type), ['welcome', 'welcome']);
  assert.equal(last()?.kind, 'open');
  assert.equal(old.readyState, 3);
});
