/** Lists of the portal, drawn without a browser: only what their hook does. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { h, render } from 'preact';
import { Refused } from '../src/portal/api';
import type { Api } from '../src/portal/api';
import { useList } from '../src/portal/parts/list';
import type { List } from '../src/portal/parts/list';

const TURNS = 50;

/** Lets effects run, and answers arrive, for `ms` milliseconds. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    mock.timers.tick(ms / TURNS);
    await new Promise((then) => setImmediate(then));
  }
}

test('a further page that could not be read is read with the list again', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const nothing = () => undefined;
  Object.assign(globalThis, { addEventListener: nothing, removeEventListener: nothing });
  let isAway = false;
  const read = async (path: string) => {
    const begin = Number(/cursor=(\d+)/.exec(path)?.[1] ?? 0);
    if (isAway && begin > 0) throw new Refused(503, {}, '');
    return { rows: [begin, begin + 1], nextCursor: begin < 4 ? String(begin + 2) : null };
  };
  const api = { read } as unknown as Api;
  let list: List<number> | null = null;
  function Probe() {
    list = useList<number>(api, 'rows', 'rows', false, 2);
    return null;
  }
  const now = () => list as unknown as List<number>;
  const root = { nodeType: 1, childNodes: [], firstChild: null };
  render(h(Probe, null), root as unknown as HTMLElement);
  await pass(100);
  assert.deepEqual(now().entries, [0, 1]);
  isAway = true;
  now().more();
  await pass(100);
  assert.ok(now().error);
  isAway = false;
  await pass(11_000);
  assert.equal(now().error, null);
  assert.deepEqual(now().entries, [0, 1, 2, 3]);
  mock.timers.reset();
});
