/**
 * Carries out the journey file: node journey.mjs FILE BASE_URL KEY STORE. Exits with 0 if every
 * step went as the file says.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Client, ServiceError } from '../dist/index.js';
import { FileStore } from '../dist/node.js';

const [file, baseUrl, key, path] = process.argv.slice(2);
const journey = JSON.parse(await readFile(file, 'utf8'));
const run = 'js';
const store = new FileStore(path);
const client = new Client(baseUrl, key, {
  timeouts: { answerMs: 1000 },
  retries: { tries: 10, firstPauseMs: 20, longestPauseMs: 200 },
  warn: (message) => console.log(message),
});
const kept = {};

const POSITIONAL = new Set(['tiers', 'readiness', 'readSeat', 'cancel', 'match', 'decide']);

function filled(value, round) {
  if (typeof value === 'string') {
    if (value.startsWith('$')) return kept[value.slice(1)];
    return value.replaceAll('{run}', run).replaceAll('{round}', String(round));
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, round));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(
    ([name, each]) => [name, name === 'keep' ? each : filled(each, round)],
  ));
}

function holds(got, wanted, step) {
  for (const [name, value] of Object.entries(wanted)) {
    assert.deepEqual(got[name], value, `${name} of ${JSON.stringify(step)}`);
  }
}

async function make(step) {
  const { call, with: given = {} } = step;
  if (call === 'invoices') {
    return Array.fromAsync?.(client.invoices()) ?? drained(client.invoices());
  }
  return POSITIONAL.has(call) ? client[call](...Object.values(given)) : client[call](given);
}

async function drained(entries) {
  const all = [];
  for await (const each of entries) all.push(each);
  return all;
}

async function call(step) {
  let got;
  try {
    got = await make(step);
  } catch (error) {
    if (!(error instanceof ServiceError) || step.throws === undefined) throw error;
    assert.deepEqual([error.reason, error.constructor.code], [step.throws, step.throws]);
    holds(error.fields, step.fields ?? {}, step);
    return;
  }
  assert.equal(step.throws, undefined, `${JSON.stringify(step)} was not refused`);
  if (step.first !== undefined) holds(got[0], step.first, step);
  holds(got, step.gets ?? {}, step);
  for (const [name, field] of Object.entries(step.keep ?? {})) kept[name] = got[field];
}

async function follow(rows) {
  const isMissing = async ({ matchId, playerId }) =>
    (await store.row(matchId, playerId))?.payoutUsdCents === undefined;
  const anyMissing = async () => (await Promise.all(rows.map(isMissing))).includes(true);
  const news = client.follow(store, { waitSeconds: 1 });
  while (await anyMissing()) await news.next();
  for (const row of rows) holds(await store.row(row.matchId, row.playerId), row, row);
}

for (let round = 0; round < journey.rounds; round += 1) {
  for (const step of journey.steps) {
    if (step.call === 'follow') await follow(filled(step.rows, round));
    else if (step.call === 'catchUp') {
      await client.catchUp(store);
      assert.equal((await store.rows()).length, (round + 1) * step.rowsInAll);
    } else await call(filled(step, round));
  }
}
console.log('arrived');
