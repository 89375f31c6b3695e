/** The feed loop and its stores: rows are kept once, with the cursor, whatever happens. */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { MemoryStore } from '../dist/index.js';
import { FileStore } from '../dist/node.js';
import { page, refusal, row, script } from './scripted.mjs';

const LOST = new TypeError('fetch failed');
const cursorOf = ({ address }) => new URL(address).searchParams.get('cursor');

test('catching up reads every page and keeps rows and cursor', async () => {
  const { client, requests } = script(
    [200, page([row('p-1'), row('p-2')], 'c1', true)],
    [200, page([row('p-1', 2, { outcome: 'ended' })], 'c2')],
    [200, page([], 'c2')],
  );
  const store = new MemoryStore();
  assert.equal(await client().catchUp(store), 3);
  assert.equal(await client().catchUp(store), 0);
  const kept = store.rows().map(({ playerId, outcome }) => [playerId, outcome]);
  assert.deepEqual(kept, [['p-1', 'ended'], ['p-2', 'started']]);
  assert.equal(store.cursor(), 'c2');
  assert.deepEqual(requests.map(cursorOf), [null, 'c1', 'c2']);
});

test('an older revision never replaces a newer one', () => {
  const store = new MemoryStore();
  store.save([row('p-1', 3)], 'c1');
  store.save([row('p-1', 2)], 'c2');
  assert.deepEqual([store.row('mat_1', 'p-1').revision, store.cursor()], [3, 'c2']);
});

test('a refused cursor starts the feed again and keeps the rows', async () => {
  const store = new MemoryStore();
  store.save([row('p-1', 5)], 'lost');
  const { client, warnings } = script(
    [400, refusal('invalid_cursor')], [200, page([row('p-2')], 'c1')],
  );
  assert.equal(await client().catchUp(store), 1);
  assert.deepEqual([store.rows().length, store.cursor()], [2, 'c1']);
  assert.match(warnings[0], /not valid any more/);
  const refused = script([400, refusal('invalid_cursor')]).client();
  await assert.rejects(refused.catchUp(new MemoryStore()), { name: 'InvalidCursor' });
});

test('following waits for rows and yields them after they are kept', async () => {
  const { client, requests, pauses } = script([200, page([])], [200, page([row()], 'c2')]);
  const store = new MemoryStore();
  for await (const rows of client().follow(store)) {
    assert.deepEqual(store.rows(), rows);
    break;
  }
  assert.ok(requests.every(({ address }) => address.includes('waitSeconds=20')));
  assert.deepEqual(pauses, [1000]); // the empty page came at once
});

test('following outlasts failures that may pass, and ends with one that does not', async () => {
  const unavailable = [500, refusal('registry_unavailable')];
  const failures = [...Array(6).fill(LOST), ...Array(6).fill(unavailable)];
  const { client, warnings } = script(...failures, [200, page([row()])]);
  for await (const rows of client().follow(new MemoryStore())) {
    assert.equal(rows.length, 1);
    break;
  }
  assert.equal(warnings.length, 2);
  const ended = script([401, refusal('invalid_key')]).client().follow(new MemoryStore());
  await assert.rejects(ended.next(), { name: 'InvalidKey' });
});

test('a file keeps rows and cursor for the next run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pgs-client-'));
  try {
    const path = join(folder, 'feed.json');
    const first = new FileStore(path);
    assert.equal(await first.cursor(), null);
    await script([200, page([row('p-1', 2)])]).client().catchUp(first);
    const second = new FileStore(path);
    assert.equal(await second.cursor(), 'c1');
    await second.save([row('p-1', 1), row('p-2')], 'c2');
    assert.equal((await second.row('mat_1', 'p-1')).revision, 2);
    assert.equal((await new FileStore(path).rows()).length, 2);
    assert.deepEqual(await readdir(folder), ['feed.json']);
    await assert.rejects(new FileStore(folder).cursor(), { code: 'EISDIR' });
    const nowhere = new FileStore(join(folder, 'missing', 'feed.json'));
    await assert.rejects(nowhere.save([row()], 'c1'), { code: 'ENOENT' });
    assert.equal(await nowhere.cursor(), null);
  } finally {
    await rm(folder, { recursive: true });
  }
});
