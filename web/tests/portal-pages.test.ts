import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refused } from '../src/portal/api';
import type { Account, Api } from '../src/portal/api';
import { meaningOf } from '../src/portal/parts/code';

/** An API whose reads `answer` answers by their paths. */
const reading = (answer: (path: string) => unknown) =>
  ({ read: async (path: string) => answer(path) }) as unknown as Api;

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
