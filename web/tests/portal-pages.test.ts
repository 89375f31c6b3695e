import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComponentChildren, VNode } from 'preact';
import { Refused } from '../src/portal/api';
import type { Account, Api } from '../src/portal/api';
import type { Seat } from '../src/portal/match/match';
import { countOfFound, search } from '../src/portal/pages/find-search';
import { waitsSay } from '../src/portal/pages/seats';
import { readSaves, savesOf } from '../src/portal/pages/webhook-saves';
import { answerOf } from '../src/portal/pages/webhooks';
import { meaningOf } from '../src/portal/parts/code';
import type { Attempt, Webhook } from '../src/portal/words/attempts';
import type { Entry } from '../src/portal/words/events';
import { barSays } from '../src/portal/words/usage';
import type { UsageDay } from '../src/portal/words/usage';

const NOW = Math.floor(Date.now() / 1000);
const DAY_S = 86_400;

const textOf = (node: ComponentChildren): string => {
  if (Array.isArray(node)) return node.map(textOf).join('');
  if (typeof node === 'object' && node !== null) {
    return textOf((node as VNode).props.children as ComponentChildren);
  }
  return typeof node === 'string' || typeof node === 'number' ? String(node) : '';
};

/** An API whose reads `answer` answers by their paths. */
const reading = (answer: (path: string) => unknown) =>
  ({ read: async (path: string) => answer(path) }) as unknown as Api;

const webhook: Webhook = {
  url: 'https://one.example', enabled: true, consecutiveFailures: 0, createdAt: 0,
  secretRotatedAt: 0, disabledAt: null,
};
const failed: Attempt = {
  attemptId: 'a', nudgeId: 'n', at: NOW - 50, try: 1, delivered: false, durationMs: 3,
  responseBody: '', test: false, resend: true, statusCode: 503,
};

test('a failed try is told, unless the address was saved after it', () => {
  const says = (last: number) => textOf(answerOf(webhook, [failed], 'test', { since: 1, last }));
  assert.match(says(NOW - 60), /^The last try failed: it was answered with 503\./);
  assert.match(says(0), /^The last try failed/);
  assert.match(says(NOW - 40), /Nothing has been sent since the address was saved/);
});

const saved = (at: number, url: string, environment = 'test') =>
  ({ eventId: '', at, actor: '', action: 'webhook.saved', detail: { url, environment } });
const other = (at: number): Entry =>
  ({ eventId: '', at, actor: '', action: 'key.created', detail: {} });

test('the saves of an address are looked for behind the first page of the log', async () => {
  const pages = [
    [other(NOW - 10), saved(NOW - 20, 'two', 'live')],
    [saved(NOW - 30, 'one'), saved(NOW - 40, 'one')],
    [saved(NOW - 50, 'two')],
    [saved(NOW - 60, 'one')],
  ];
  let read = 0;
  const api = reading(() => ({ events: pages[read++], nextCursor: `c${read}` }));
  const log = await readSaves(api, 'test');
  assert.equal(read, 3);
  assert.deepEqual(savesOf('one', log), { since: NOW - 40, last: NOW - 30 });
  assert.deepEqual(savesOf('three', log), { since: 0, last: 0 });
});

test('a try older than what was read of the log is not taken for one at the address', async () => {
  let read = 0;
  const api = reading(() => ({ events: [other(NOW - ++read)], nextCursor: 'more' }));
  const log = await readSaves(api, 'test');
  assert.deepEqual(savesOf('one', log), { since: NOW - 10, last: 0 });
  const old = reading(() => ({ events: [saved(NOW - 31 * DAY_S, 'one')], nextCursor: 'more' }));
  const since = NOW - 31 * DAY_S;
  assert.deepEqual(savesOf('one', await readSaves(old, 'test')), { since, last: since });
});

const seats = (count: number, status = 'waiting') =>
  Array.from({ length: count }, () => ({ status }) as Seat);

test('a search follows the cursor of the seats, also behind an empty page', async () => {
  const api = reading((path) => {
    if (!path.startsWith('seats?') || !path.includes('partnerRef')) {
      return { matches: [], seats: [], nextCursor: null };
    }
    const isFirst = !path.includes('cursor');
    return { seats: isFirst ? [] : seats(120), nextCursor: isFirst ? 'next' : null };
  });
  const [found] = await search(api, { environment: 'test', text: 'cart', filters: '' });
  assert.equal(found?.seats.length, 100);
  assert.equal(countOfFound(found), 'at least 100 waiting seats');
});

test('a search names what it found: a seat, waiting seats or pending seats', () => {
  const found = { matches: [], hasMore: false };
  assert.equal(countOfFound({ ...found, kind: 'seatId', seats: seats(1, 'ended') }), 'a seat');
  const both = [...seats(2), ...seats(1, 'pending')];
  const count = countOfFound({ ...found, kind: 'playerId', seats: both });
  assert.equal(count, '2 waiting seats and 1 pending seat');
});

test('a seat whose stake is not confirmed is not said to wait', () => {
  const pending = '1 seat is pending: the stake is not confirmed yet.';
  const both = [...seats(2), ...seats(1, 'pending')];
  const two = '2 seats wait for an opponent in live.';
  assert.deepEqual(waitsSay(both, true, 'live'), [two, pending]);
  assert.deepEqual(waitsSay(seats(1, 'pending'), true, 'live'), ['Nobody waits in live.', pending]);
  assert.deepEqual(waitsSay(seats(2), false, 'live'), [`At least ${two}`, '']);
});

test('a wrong code is called wrong, whatever is known of the tries that are left', async () => {
  const wrong = new Refused(403, { reason: 'invalid_code', error: 'no' }, '');
  const locked = new Refused(403, { reason: 'step_up_locked', error: 'Locked.' }, '');
  const silent = reading(() => Promise.reject(new Error('no answer')));
  const answering = (stepUp: Account['stepUp']) => reading(() => ({ stepUp }));
  assert.match(await meaningOf(silent, wrong, false), /^This code is wrong/);
  assert.equal(await meaningOf(silent, locked, false), 'Locked.');
  const left = await meaningOf(answering({ enrolled: true, triesLeft: 1 }), wrong, false);
  assert.match(left, /Before a lock: 1 try\.$/);
});

test('a day is compared with the others only if something was played', () => {
  const days = [0, 3, 0, 1].map((matches, day) => ({ day: `2026110${day + 1}`, matches }));
  const said = (index: number) =>
    barSays(days as UsageDay[], days[index] as UsageDay, 'matches').said;
  assert.equal(said(0), '0 matches.');
  assert.equal(said(1), '3 matches, the most of these days.');
  assert.equal(said(3), '1 match, as on an average day.');
});
