import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refused } from '../src/portal/api';
import type { Account, Api } from '../src/portal/api';
import type { Seat } from '../src/portal/match/match';
import { countOfFound, search } from '../src/portal/pages/find-search';
import { waitsSay } from '../src/portal/pages/seats';
import { meaningOf } from '../src/portal/parts/code';

/** An API whose reads `answer` answers by their paths. */
const reading = (answer: (path: string) => unknown) =>
  ({ read: async (path: string) => answer(path) }) as unknown as Api;

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

test('what a search finds is called what it is', () => {
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
