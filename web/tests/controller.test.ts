import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Controller } from '../src/frame/controller';
import { timeLeft } from '../src/frame/play';
import { headline } from '../src/frame/words';
import { moved, refusal, snapshot, Stage } from './stage';

async function seat() {
  const stage = new Stage();
  const told: Record<string, unknown>[] = [];
  const controller = new Controller(stage, { tell: (message) => told.push(message as Record<string, unknown>) });
  controller.use('t');
  await stage.pass(0);
  stage.newest.open();
  return { stage, told, controller, play: () => controller.published.play, said: () => controller.published.said.text };
}

test('the player joins by itself and waits where there is no match', async () => {
  const { stage, told, play, said } = await seat();
  assert.deepEqual(stage.newest.sent, [{ type: 'join' }]);
  stage.newest.say({ type: 'waiting', seatId: 'sea_1' });
  assert.equal(headline(play()), 'Waiting for an opponent…');
  assert.equal(said(), 'Waiting for an opponent.');
  assert.deepEqual(told.at(-1), { type: 'pgs.state', matchId: null, status: 'waiting', ply: null, turn: null, you: null });
  stage.newest.say(snapshot());
  assert.equal(said(), 'The match has begun. You play X. Your turn.');
  assert.deepEqual(told.at(-1), { type: 'pgs.state', matchId: 'mat_1', status: 'started', ply: 0, turn: 0, you: 0 });
});

test('a move is sent once, and shown when the server has taken it', async () => {
  const { stage, controller, play, said } = await seat();
  stage.newest.say(snapshot());
  controller.move('c3');
  controller.move('a1');
  controller.move('b2');
  assert.deepEqual(stage.newest.sent.slice(1), [{ type: 'move', matchId: 'mat_1', ply: 0, move: 'a1' }]);
  assert.equal(headline(play()), 'Sending your move…');
  stage.newest.say(moved());
  assert.equal(play().sent, null);
  assert.equal(said(), 'You: a1. Opponent to move.');
  controller.move('b2');
  assert.equal(stage.newest.sent.length, 2);
});

test('a move that went out with a lost connection is sent again, unless the server has it', async () => {
  const { stage, controller } = await seat();
  stage.newest.say(snapshot());
  controller.move('a1');
  stage.newest.lose(1006);
  await stage.pass(500);
  stage.newest.open();
  assert.deepEqual(stage.newest.sent, [{ type: 'join', matchId: 'mat_1' }]);
  stage.newest.say(snapshot());
  assert.deepEqual(stage.newest.sent.at(-1), { type: 'move', matchId: 'mat_1', ply: 0, move: 'a1' });
  stage.newest.lose(1006);
  await stage.pass(1000);
  stage.newest.open();
  stage.newest.say(snapshot({ ply: 1, turn: 1, seq: 2 }));
  assert.deepEqual(stage.newest.sent, [{ type: 'join', matchId: 'mat_1' }]);
});

test('a refused move is taken back, and the board asked for anew', async () => {
  const { stage, controller, play } = await seat();
  stage.newest.say(snapshot());
  controller.move('a1');
  stage.newest.say({ type: 'error', reason: 'stale_ply', ref: 'mat_1' });
  assert.equal(play().sent, null);
  assert.deepEqual(stage.newest.sent.at(-1), { type: 'join', matchId: 'mat_1' });
});

test('what is older than the board, or of another match, changes nothing', async () => {
  const { stage, play } = await seat();
  stage.newest.say(snapshot({ seq: 5, ply: 2 }));
  const before = play().match;
  stage.newest.say(moved({ seq: 5 }));
  stage.newest.say(moved({ seq: 9, matchId: 'mat_2' }));
  stage.newest.say(snapshot({ matchId: 'mat_2', seq: 9 }));
  stage.newest.say({ type: 'waiting' });
  assert.equal(play().match, before);
});

test('a result stays on the screen until the next match, which the frame asks for', async () => {
  const { stage, told, play, said } = await seat();
  stage.newest.say(snapshot());
  stage.newest.say({ type: 'ended', matchId: 'mat_1', seq: 2, outcome: 'ended', result: 'won', endReason: 'completed' });
  assert.equal(said(), 'You won.');
  const ended = { type: 'pgs.ended', matchId: 'mat_1', outcome: 'ended', result: 'won', endReason: 'completed' };
  assert.deepEqual(told.filter((message) => message.type === 'pgs.ended'), [ended]);
  assert.equal(told.at(-2)?.status, 'ended');
  await stage.pass(4000);
  assert.deepEqual(stage.newest.sent.at(-1), { type: 'join' });
  stage.newest.say({ type: 'waiting' });
  assert.equal(headline(play()), 'You won.');
  stage.newest.say(snapshot({ matchId: 'mat_2' }));
  assert.equal(headline(play()), 'Your turn');
});

test('a match that ended while the connection was lost is shown with its end', async () => {
  const { stage, told, play } = await seat();
  stage.newest.say(snapshot());
  stage.newest.lose(1006);
  await stage.pass(500);
  stage.newest.open();
  stage.newest.say(snapshot({ status: 'ended', result: 'lost', endReason: 'forfeit_timeout', legalMoves: [] }));
  assert.equal(headline(play()), 'You lost on time.');
  assert.equal(told.filter((message) => message.type === 'pgs.ended').length, 1);
});

test('a match that is no longer there is let go for the next one', async () => {
  const { stage, play } = await seat();
  stage.newest.say(snapshot());
  stage.newest.lose(1006);
  await stage.pass(500);
  stage.newest.open();
  stage.newest.say({ type: 'error', reason: 'match_not_found' });
  assert.equal(play().match, null);
  assert.deepEqual(stage.newest.sent.at(-1), { type: 'join' });
});

test('the host page hears of an outage once, and of every end', async () => {
  const { stage, told, said } = await seat();
  stage.answer = () => refusal(503, { reason: 'registry_unavailable' });
  stage.newest.lose(4503);
  await stage.pass(5000);
  assert.deepEqual(told.filter((message) => message.type === 'pgs.error'), [{ type: 'pgs.error', reason: 'registry_unavailable' }]);
  stage.answer = () => refusal(401);
  await stage.pass(20_000);
  assert.deepEqual(told.at(-1), { type: 'pgs.error', reason: 'session_invalid' });
  assert.match(said(), /session is not valid/);
});

test('an opponent who leaves and comes back is told', async () => {
  const { stage, said } = await seat();
  stage.newest.say(snapshot());
  stage.newest.say({ type: 'presence', matchId: 'mat_1', seq: 2, opponent: { playerId: 'bob', connected: false } });
  assert.equal(said(), 'Opponent has lost the connection.');
  stage.newest.say({ type: 'presence', matchId: 'mat_1', seq: 3, opponent: { playerId: 'bob', connected: true }, deadlineAtMs: 5 });
  assert.equal(said(), 'Opponent is here.');
});

test('clocks run to the deadline of the server, and show the bank of whoever waits', async () => {
  const { stage, play } = await seat();
  stage.newest.say(snapshot({ gameId: 'chess', deadlineAtMs: stage.time + 300_000, remainingMs: [300_000, 240_000] }));
  assert.equal(timeLeft({ ...play(), aheadMs: 0 }, 0, stage.time + 60_000), 240_000);
  assert.equal(timeLeft({ ...play(), aheadMs: 60_000 }, 0, stage.time), 240_000);
  assert.equal(timeLeft(play(), 1, stage.time), 240_000);
});

test('the token that is in use changes nothing, another one connects anew', async () => {
  const { stage, controller } = await seat();
  controller.use('t');
  await stage.pass(0);
  assert.equal(stage.sockets.length, 1);
  controller.use('u');
  await stage.pass(0);
  assert.deepEqual(stage.newest.protocols[1], 'pgs.token.u');
});

test('a join that an outage of the service has refused is tried again', async () => {
  const { stage, told } = await seat();
  stage.newest.say({ type: 'error', reason: 'registry_unavailable' });
  assert.equal(stage.newest.sent.length, 1);
  await stage.pass(2000);
  assert.deepEqual(stage.newest.sent, [{ type: 'join' }, { type: 'join' }]);
  assert.deepEqual(told.filter((message) => message.type === 'pgs.error'), []);
});
