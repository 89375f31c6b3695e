/** The calls: what is sent, what is returned, what is repeated and what is thrown. */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import test from 'node:test';
import { Client, BY_CODE, newIdempotencyKey, RETRIES, ServerFailure } from '../dist/index.js';
import * as errors from '../dist/errors.js';
import { pauseMs } from '../dist/sender.js';
import { BASE, KEY, page, PURCHASE, refusal, row, script, SEAT } from './scripted.mjs';

const LOST = new TypeError('fetch failed', { cause: new Error('ECONNRESET') });

test('a seat is sent as the service takes it', async () => {
  const { client, requests } = script([200, SEAT]);
  const seat = await client().seat({ ...PURCHASE, partnerRef: 'basket 7' });
  const [request] = requests;
  assert.equal(request.address, `${BASE}/partner/matches`);
  assert.deepEqual([request.method, request.redirect], ['POST', 'manual']);
  assert.equal(request.headers.Authorization, `Bearer ${KEY}`);
  assert.equal(request.headers['X-Service-Api-Version'], '1');
  assert.deepEqual(JSON.parse(request.body), { ...PURCHASE, partnerRef: 'basket 7' });
  assert.deepEqual([seat.seatId, seat.matchId, seat.replayed], ['sea_1', null, false]);
});

for (const [name, failure] of Object.entries({
  'a lost answer': LOST,
  'a timeout': new DOMException('late', 'TimeoutError'),
  'settlement_unavailable': [503, refusal('settlement_unavailable')],
  'a failure without a reason': [500, { error: 'x' }],
  "a proxy's page": [502, '<html>Bad Gateway</html>'],
  'rate_limited': [429, refusal('rate_limited'), { 'Retry-After': '1' }],
  'a page instead of JSON': [200, '<html>a captive portal</html>'],
  'the answer to another call': [200, { ...SEAT, idempotencyKey: 'another' }],
  'an answer with another type': [200, { ...SEAT, stakeUsdCents: '100' }],
})) {
  test(`a seat is repeated with the same key after ${name}`, async () => {
    const replay = [200, SEAT, { 'Idempotent-Replayed': 'true' }];
    const { client, requests, pauses } = script(failure, failure, replay);
    assert.equal((await client().seat(PURCHASE)).replayed, true);
    assert.deepEqual(new Set(requests.map(({ body }) => body)).size, 1);
    assert.equal(requests.length, 3);
    assert.equal(pauses.length, 2);
  });
}

test('pauses double with jitter up to the longest', () => {
  const tries = [1, 2, 3, 4, 5, 6, 7];
  const least = tries.map((tried) => pauseMs(RETRIES, tried, null, 0));
  assert.deepEqual(least, [250, 500, 1000, 2000, 4000, 4000, 4000]);
  const most = tries.map((tried) => pauseMs(RETRIES, tried, null, 1));
  assert.deepEqual(most, least.map((pause) => 2 * pause));
});

test('a pause is never shorter than Retry-After', async () => {
  const limited = [429, refusal('rate_limited'), { 'Retry-After': '7' }];
  const { client, pauses } = script(limited, [200, SEAT]);
  await client().seat(PURCHASE);
  assert.ok(pauses[0] >= 7000 && pauses[0] <= 7500);
});

test('a 429 without a usable Retry-After waits a second', async () => {
  const { client, pauses } = script([429, refusal('rate_limited')], [200, SEAT]);
  await client().seat(PURCHASE);
  assert.ok(pauses[0] >= 1000);
});

test('a Retry-After that is too long is thrown at once', async () => {
  const limited = [429, refusal('rate_limited'), { 'Retry-After': '3600' }];
  const { client, pauses } = script(limited);
  await assert.rejects(client().seat(PURCHASE), { name: 'RateLimited', retryAfterMs: 3_600_000 });
  assert.deepEqual(pauses, []);
});

test('a pending seat is asked for again until it is decided', async () => {
  const pending = [200, { ...SEAT, status: 'pending' }];
  const unavailable = [503, refusal('settlement_unavailable')];
  const { client, requests } = script(pending, unavailable, [200, SEAT]);
  assert.equal((await client().seat(PURCHASE)).status, 'waiting');
  assert.equal(requests.length, 3);
  const patient = script(pending, pending).client({ retries: { tries: 2 } });
  assert.equal((await patient.seat(PURCHASE)).status, 'pending');
});

test('after the last try the last failure is thrown', async () => {
  const one = script(LOST, [503, refusal('settlement_unavailable')]);
  await assert.rejects(one.client({ retries: { tries: 2 } }).seat(PURCHASE), {
    name: 'SettlementUnavailable',
  });
  const other = script([503, refusal('settlement_unavailable')], LOST);
  await assert.rejects(other.client({ retries: { tries: 2 } }).seat(PURCHASE), {
    name: 'NoAnswer', cause: LOST,
  });
});

test('a refusal is thrown as the type of its code and is not repeated', async () => {
  const body = refusal('stake_below_floor', { floorUsdCents: 100 });
  const { client, requests } = script([400, body, { 'X-Request-Id': 'req_1' }]);
  await assert.rejects(client().seat(PURCHASE), (error) => {
    assert.ok(error instanceof errors.StakeBelowFloor && error instanceof errors.BadRequest);
    assert.equal(error.fields.floorUsdCents, 100);
    assert.deepEqual([error.requestId, error.status], ['req_1', 400]);
    assert.equal(error.message, '400 stake_below_floor A sentence.');
    return true;
  });
  assert.equal(requests.length, 1);
});

test('a declined stake is thrown with its seat', async () => {
  const { client } = script([402, { ...refusal('stake_declined'), ...SEAT, status: 'declined' }]);
  await assert.rejects(client().seat(PURCHASE), ({ seat }) => seat.status === 'declined');
});

test('an unknown reason is the failure that its status describes', async () => {
  const general = {
    400: 'BadRequest', 401: 'Unauthorized', 402: 'PaymentRequired', 403: 'Forbidden',
    404: 'NotFound', 409: 'Conflict', 422: 'Unprocessable', 429: 'TooManyRequests',
    503: 'ServerFailure', 418: 'ServiceError',
  };
  for (const [status, name] of Object.entries(general)) {
    for (const reason of ['brand_new', undefined, 7]) {
      const { client } = script([Number(status), refusal(reason)]);
      await assert.rejects(client({ retries: { tries: 1 } }).me(), { name });
    }
  }
});

test('every code has its type', () => {
  for (const [code, kind] of BY_CODE) {
    const name = code.split('_').map((word) => word[0].toUpperCase() + word.slice(1)).join('');
    assert.equal(kind.name, name);
  }
});

for (const status of [204, 301, 307]) {
  test(`a ${status} is unexpected and not repeated`, async () => {
    const { client, requests } = script([status, '', { Location: 'https://elsewhere.example' }]);
    await assert.rejects(client().me(), { name: 'UnexpectedAnswer' });
    assert.equal(requests.length, 1);
  });
}

test('unknown fields and values are kept', async () => {
  const { client } = script([200, { ...SEAT, status: 'hovering', heldBack: 'player_absent' }]);
  const seat = await client().readSeat('sea_1');
  assert.deepEqual([seat.status, seat.heldBack], ['hovering', 'player_absent']);
});

test('an id cannot leave its place in the path', async () => {
  const { client, requests } = script([404, refusal('seat_not_found')]);
  await assert.rejects(client().cancel('../matches?x=1'), { name: 'SeatNotFound' });
  assert.equal(requests[0].address, `${BASE}/partner/seats/..%2Fmatches%3Fx%3D1/cancel`);
  assert.throws(() => client().cancel('..'), TypeError);
  assert.throws(() => client().match(''), TypeError);
});

test('the other calls are sent and read', async () => {
  const match = {
    matchId: 'mat_1', environment: 'test', gameId: 'g', tierId: 't', status: 'ended',
    prizeUsdCents: 180, seats: [{ seatId: 'sea_1', playerId: 'p-1', stakeUsdCents: 100 }],
  };
  const session = {
    sessionToken: 'pgs1.secret', environment: 'test', gameId: 'g', playerId: 'p-1',
    playerUid: 'ptr:test:acme:p-1', issuedAt: 1, expiresAt: 2,
    embedUrl: 'https://games.example/embed/test/acme', gameSocketUrl: 'wss://games.example/x',
  };
  const tier = {
    tierId: 't', name: 'T', entryUsdCents: 100, floorUsdCents: 100, prizeUsdCents: 180,
    priced: false,
  };
  const account = {
    partnerId: 'acme', name: 'Acme', apiVersion: 1, environment: 'test', games: ['g'], origins: [],
    prices: {},
  };
  const { client, requests } = script(
    [200, account], [200, { gameId: 'g', tiers: [tier] }], [200, session], [200, match],
    [200, match], [200, match], [200, page([row()])], [200, { days: [] }], [200, { days: [] }],
    [200, { rows: [] }], [200, SEAT],
  );
  const made = client();
  assert.equal((await made.me()).partnerId, 'acme');
  assert.equal((await made.tiers('g'))[0].entryUsdCents, 100);
  const minted = await made.mint({ gameId: 'g', playerId: 'p-1', displayName: 'Ada' });
  assert.equal(JSON.parse(JSON.stringify(minted)).sessionToken, 'pgs1.secret');
  assert.doesNotMatch(inspect(minted), /secret/);
  assert.equal((await made.match('mat_1')).seats[0].playerId, 'p-1');
  assert.equal((await made.decide('mat_1', null)).status, 'ended');
  assert.equal((await made.callOff('mat_1')).status, 'ended');
  assert.equal((await made.results('c', { waitSeconds: 20, limit: 5 })).items.length, 1);
  assert.deepEqual(await made.digest('20260101', '20260102'), { days: [] });
  assert.deepEqual(await made.usage('20260101', '20260102'), { days: [] });
  assert.deepEqual(await made.seatSummary('20260101', '20260102'), { rows: [] });
  assert.equal((await made.cancel('sea_1')).seatId, 'sea_1');
  const targets = requests.map(({ method, address }) => `${method} ${address.slice(BASE.length)}`);
  assert.deepEqual(targets, [
    'GET /partner/me',
    'GET /partner/tiers?gameId=g',
    'POST /partner/sessions',
    'GET /partner/matches/mat_1',
    'POST /partner/test/matches/mat_1/decide',
    'POST /partner/test/matches/mat_1/decide',
    'GET /partner/results?cursor=c&limit=5&waitSeconds=20',
    'GET /partner/results/digest?from=20260101&to=20260102',
    'GET /partner/usage?from=20260101&to=20260102',
    'GET /partner/seat-summary?from=20260101&to=20260102',
    'POST /partner/seats/sea_1/cancel',
  ]);
  assert.deepEqual(JSON.parse(requests[4].body), { outcome: 'ended', winnerPlayerId: null });
  assert.deepEqual(JSON.parse(requests[5].body), { outcome: 'no_contest' });
});

test('every gate between the account and a seat is read', async () => {
  const gates = [
    { gate: 'account_active', ok: true }, { gate: 'webhook_on', ok: false, advice: 'x' },
  ];
  const answer = { environment: 'test', gameId: 'g', ready: true, gates };
  const { client, requests } = script([200, answer], [200, { ...answer, gates: [{ ok: true }] }]);
  const { ready, gates: [active, webhook] } = await client().readiness('g');
  assert.deepEqual([ready, active.ok, webhook.ok, webhook.reason], [true, true, false, undefined]);
  assert.equal(requests[0].address, `${BASE}/partner/readiness?gameId=g`);
  const once = client({ retries: { tries: 1 } });
  await assert.rejects(once.readiness('g'), { name: 'UnexpectedAnswer', message: /Gate has no/ });
});

test('the feed is read from a time', async () => {
  const { client, requests } = script([200, page([row()])]);
  assert.equal((await client().results(null, { since: 1_800_000_000 })).items.length, 1);
  assert.equal(requests[0].address, `${BASE}/partner/results?since=1800000000`);
});

test('a theme is read and replaced as a whole', async () => {
  const { client, requests } = script([200, { cornerRadius: 8 }], [200, { cornerRadius: 0 }]);
  assert.deepEqual(await client().theme(), { cornerRadius: 8 });
  assert.deepEqual(await client().writeTheme({ cornerRadius: 0 }), { cornerRadius: 0 });
  assert.deepEqual([requests[1].method, requests[1].body], ['PUT', '{"cornerRadius":0}']);
});

test('pages are read to the last', async () => {
  const invoice = {
    invoiceId: 'inv_1', environment: 'test', status: 'open', periodFrom: '1', periodTo: '2',
  };
  const line = {
    lineId: 'lin_1', day: '1', gameId: 'g', tierId: 't', description: 'd', matches: 1,
    amountUsdCents: 20,
  };
  const { client, requests } = script(
    [200, { invoices: [invoice], nextCursor: 'c 1', hasMore: true }],
    [200, { invoices: [invoice], nextCursor: null, hasMore: false }],
    [200, { lines: [line], nextCursor: null, hasMore: false }],
    [200, { matches: [], nextCursor: null, hasMore: false }],
    [200, invoice],
  );
  const read = [];
  for await (const each of client().invoices({ status: 'open' })) read.push(each.invoiceId);
  for await (const each of client().invoiceLines('inv_1')) read.push(each.lineId);
  for await (const each of client().lineMatches('inv_1', 'lin_1')) read.push(each.matchId);
  assert.deepEqual(read, ['inv_1', 'inv_1', 'lin_1']);
  assert.equal((await client().invoice('inv_1')).status, 'open');
  assert.match(requests[1].address, /\?status=open&cursor=c\+1&limit=500$/);
});

test('a page that cannot be read is an unexpected answer', async () => {
  const pages = [{ results: [], nextCursor: 7, hasMore: false }, { results: {} }, [], 'x'];
  for (const body of pages) {
    const { client } = script([200, body]);
    const call = client({ retries: { tries: 1 } }).results();
    await assert.rejects(call, { name: 'UnexpectedAnswer' });
  }
});

test('an address or a key that is wrong is refused without showing the key', () => {
  for (const [baseUrl, key] of [
    ['http://games.example', KEY], ['ftp://games.example', KEY], [`${BASE}?x=1`, KEY],
    [BASE, 'pgs_test_short'], [BASE, `${KEY}\n`],
  ]) {
    assert.throws(() => new Client(baseUrl, key), ({ message }) => !message.includes(key.trim()));
  }
  new Client('http://127.0.0.1:8000', KEY);
  new Client('http://games.internal', KEY, { plainHttp: true });
  assert.throws(() => new Client(BASE, KEY, { retries: { tries: 0 } }), TypeError);
});

test('a client never shows its key', async () => {
  const { client } = script([500, { error: 'x' }]);
  const made = client({ retries: { tries: 1 } });
  assert.equal(made.environment, 'test');
  assert.doesNotMatch(inspect(made, { showHidden: true, depth: 9 }), /kkkk/);
  await assert.rejects(made.me(), (error) => {
    assert.ok(error instanceof ServerFailure);
    assert.doesNotMatch(inspect(error), /kkkk/);
    return true;
  });
});

test('a call ends when its time is over', async () => {
  const stalled = (_, { signal }) => new Promise((_, reject) => {
    // The timer of AbortSignal does not keep Node running; this one does.
    const alive = setTimeout(() => undefined, 60_000);
    signal.addEventListener('abort', () => {
      clearTimeout(alive);
      reject(signal.reason);
    });
  });
  const client = new Client(BASE, KEY, {
    fetch: stalled, timeouts: { answerMs: 5 }, retries: { tries: 1 },
  });
  await assert.rejects(client.me(), { name: 'NoAnswer' });
});

test('each idempotency key is new', () => {
  assert.match(newIdempotencyKey(), /^[A-Za-z0-9_.:-]{1,128}$/);
  assert.notEqual(newIdempotencyKey(), newIdempotencyKey());
});
