import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VNode } from 'preact';
import type { Api } from '../src/portal/api';
import { stampOf, storyOf } from '../src/portal/match/story';
import type { Life, Seat } from '../src/portal/match/match';
import { bodyFor, curlOf } from '../src/portal/now/curl';
import { Detail, Told } from '../src/portal/now/detail';
import { keepRows, keptRows } from '../src/portal/now/kept';
import { EventReader } from '../src/portal/now/live';
import type { LiveEvent } from '../src/portal/now/live';
import { isRefused, passes, ROWS_MAX, withEvent, wordsOf } from '../src/portal/now/rows';
import { sentenceOf } from '../src/portal/words/events';
import type { NowRow } from '../src/portal/now/rows';

const nameOf = (id: string) => (id === 'bronze' ? 'Bronze' : id);

const call = (status: number, reason?: string): LiveEvent => ({
  kind: 'call', at: 1, method: 'GET', path: '/partner/seats/sea_1', status,
  requestId: 'req_1', durationMs: 1, last4: '0tBx', ...(reason === undefined ? {} : { reason }),
});

test('the command that repeats a refused seat has a place for its amount', () => {
  (globalThis as { location?: object }).location = { origin: 'https://games.example' };
  const body = bodyFor('POST', '/partner/matches');
  const command = curlOf('test', 'POST', '/partner/matches', body);
  assert.match(command, /"tierId":"TIER","stakeUsdCents":CENTS,"idempotencyKey":"ORDER"/);
  delete (globalThis as { location?: object }).location;
});

test('a seat has the names of its game and tier, and an id without a name stays', () => {
  const event: LiveEvent = {
    kind: 'seat', at: 1, seatId: 'sea_1', matchId: null, playerId: 'p1', gameId: 'chess',
    tierId: 'bronze', status: 'waiting', stakeUsdCents: 100,
  };
  assert.equal(wordsOf(event, nameOf).small, 'Bronze, $1.00, chess');
});

test('an entry of the event log names the game', () => {
  const detail = { gameId: 'connect-four' };
  const entry = { eventId: 'evt_1', at: 1, actor: 'platform', action: 'game.live_granted', detail };
  const names = new Map([['connect-four', 'Connect Four']]);
  assert.equal(sentenceOf(entry, names), 'granted live access to Connect Four');
});

test('events are read from a stream that is cut anywhere', () => {
  const text =
    'retry: 500\n\nevent: budget\ndata: {"at": 1, "left": 2, "burst": 3}\n\n' +
    'event: unknown\ndata: {}\n\nevent: match\ndata: {broken\n\n' +
    'event: lost\ndata: {"events": 4}\n\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new EventReader();
    const read = [...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))];
    assert.deepEqual(read.map((event) => event.kind), ['budget', 'lost']);
    assert.deepEqual(read[0], { kind: 'budget', at: 1, left: 2, burst: 3 });
  }
});

test('a refusal gives way to its call, and only to that', () => {
  const path = '/partner/seats/{seat_id}';
  const refusal: LiveEvent = { kind: 'refusal', at: 1, path, reason: 'seat_not_found' };
  const before = withEvent([], refusal, 1);
  assert.equal(withEvent(before, call(404, 'seat_not_found'), 2).length, 1);
  assert.equal(withEvent(before, call(404, 'match_not_found'), 2).length, 2);
  assert.equal(withEvent(before, call(200), 2).length, 2);
  const elsewhere: LiveEvent = { ...refusal, path: '/partner/me' };
  const rows = [{ number: 1, event: elsewhere }];
  assert.equal(withEvent(rows, call(404, 'seat_not_found'), 2).length, 2);
});

test('rows stay while another page is open, with the time in which nobody listened', () => {
  const [api, other] = [{}, {}] as [Api, Api];
  assert.deepEqual(keptRows(api, 'test', 5), []);
  keepRows(api, 'test', [{ number: 7, event: call(200) }], 10);
  const rows = keptRows(api, 'test', 50);
  const seen = rows.map(({ number, event }) => [number, event.kind]);
  assert.deepEqual(seen, [[8, 'away'], [7, 'call']]);
  assert.equal(wordsOf(rows[0]!.event, nameOf).title, 'Not listening for 40 seconds');
  const rowAt = (_: unknown, at: number) => ({ number: ROWS_MAX - at, event: call(200) });
  const full = Array.from({ length: ROWS_MAX }, rowAt);
  keepRows(api, 'test', full, 10);
  assert.equal(keptRows(api, 'test', 11).length, ROWS_MAX);
  assert.deepEqual([keptRows(api, 'live', 50), keptRows(other, 'test', 50)], [[], []]);
});

test('only the newest rows are kept, and each filter lets its own kind through', () => {
  let rows: NowRow[] = [];
  for (let number = 0; number < ROWS_MAX + 5; number += 1) {
    rows = withEvent(rows, call(200), number);
  }
  assert.equal(rows.length, ROWS_MAX);
  assert.equal(rows[0]!.number, ROWS_MAX + 4);
  assert.ok(isRefused(call(400)) && !isRefused(call(200)));
  assert.ok(passes('refused', call(429, 'rate_limited')) && !passes('refused', call(200)));
  assert.ok(!passes('seats', call(200)) && passes('calls', call(200)) && passes('all', call(200)));
});

const seat = (number: number): Seat => ({
  seatId: `sea_${number}`, playerId: `p${number}`, status: 'no_contest', stakeUsdCents: 100,
  prizeUsdCents: 180, seatedAt: 100, idempotencyKey: `k${number}`, gameId: 'tic-tac-toe',
  tierId: 'bronze', matchId: 'mat_1', stakeStatus: 'confirmed',
});

const attempt = { nudgeId: 'n', delivered: false, resend: false, durationMs: 1, responseBody: '' };

test('the story of a seat without an opponent goes from its charge to its refund', () => {
  const life: Life = {
    match: {
      matchId: 'mat_1', environment: 'test', gameId: 'tic-tac-toe', tierId: 'bronze',
      status: 'no_contest', prizeUsdCents: 180, endReason: 'no_opponent', endedAt: 400,
      seats: [{
        seatId: 'sea_1', playerId: 'p1', stakeUsdCents: 100,
        payoutUsdCents: 0, refundUsdCents: 100, rakeUsdCents: 0,
      }],
    },
    seats: [seat(1)],
    ledger: [
      {
        seq: 1, at: 103, kind: 'charge', debit: 'player:p1', credit: 'escrow', seatId: 'sea_1',
        amountUsdCents: 100,
      },
      {
        seq: 2, at: 401, kind: 'refund', debit: 'escrow', credit: 'player:p1', seatId: 'sea_1',
        amountUsdCents: 100,
      },
    ],
    moves: [],
    nudges: [
      { ...attempt, attemptId: 'a2', at: 402, try: 2, error: 'no answer' },
      { ...attempt, attemptId: 'a1', at: 401, try: 1, statusCode: 500 },
    ],
  };
  assert.deepEqual(storyOf(life, nameOf).map(({ title, says }) => [title, says]), [
    ['p1 took a seat', 'Bronze, price $1.00'],
    ['$1.00 charged to p1', 'Confirmed after 3 seconds'],
    ['p1 found no opponent', 'no_opponent: no other player came in time'],
    ['$1.00 given back to p1, nothing kept as rake', '$1.00 = $1.00 + $0.00'],
    ['A nudge was not delivered, after 2 tries', '500, then no answer'],
    ['The result waits in your feed: 1 row', 'Nothing is lost. Poll GET /partner/results.'],
  ]);
});

test('times count from the beginning of their part', () => {
  const stamps = {
    0: '+ 0 s', 0.24: '+ 0.2 s', 41: '+ 41 s', 130: '+ 2 min 10 s', 3720: '+ 1 h 2 min',
  };
  for (const [passed, said] of Object.entries(stamps)) {
    assert.equal(stampOf(10, 10 + Number(passed)), said);
  }
});

test('the detail of an event says why a call was refused, and leads to what it is about', () => {
  const detail = (event: LiveEvent) => Detail({ event, environment: 'live', nameOf }) as VNode;
  const titleOf = (event: LiveEvent) => (detail(event).props as unknown as { title: string }).title;
  const linksOf = (event: LiveEvent) =>
    [...JSON.stringify(detail(event)).matchAll(/"href":"([^"]+)"/g)].map(([, href]) => href);
  assert.equal(titleOf(call(404, 'seat_not_found')), 'Refused: seat not found');
  assert.equal(titleOf(call(400)), 'Refused: a malformed call');
  assert.doesNotMatch(titleOf(call(200)), /Refused/);
  const nudge = {
    kind: 'nudge', at: 1, nudgeId: 'ndg_1', matchId: 'mat_1', try: 3, statusCode: 500, test: false,
  } as const;
  const match = '/portal/live/matches/mat_1';
  assert.deepEqual(linksOf({ ...nudge, delivered: true }), [match]);
  assert.deepEqual(linksOf({ ...nudge, delivered: false }), [match, '/portal/live/webhooks']);
  assert.deepEqual(linksOf({ ...nudge, matchId: null, delivered: true }), []);
  assert.deepEqual(linksOf({ kind: 'away', at: 2, since: 1 }), ['/portal/live/find']);
  const told = JSON.stringify(Told({ text: 'Send `gameId` too.' }));
  assert.match(told, /"type":"code"|"children":"gameId"/);
});
