/**
 * Runs the client in an edge runtime: node --experimental-vm-modules edge.mjs BASE_URL KEY. It
 * takes two seats, decides their match, and follows the feed until the match's money is recorded.
 * The runtime offers what the edge offers, so nothing of Node: no process, no Buffer, no require.
 */

import { EdgeVM } from '@edge-runtime/vm';
import { readFile } from 'node:fs/promises';
import vm from 'node:vm';

const PROGRAM = `
import { Client, MemoryStore, newIdempotencyKey, verifyWebhook } from './index.js';

const nodes = ['process', 'require', 'Buffer', 'module'].filter((name) => name in globalThis);
if (nodes.length > 0) throw new Error('this is no edge runtime: it has ' + nodes);

export async function travel(baseUrl, key) {
  const client = new Client(baseUrl, key), store = new MemoryStore(), gameId = 'tic-tac-toe';
  const [{ tierId, entryUsdCents: stakeUsdCents }] = await client.tiers(gameId);
  const seats = [];
  for (const playerId of ['ada', 'bob']) {
    await client.mint({ gameId, playerId });
    const idempotencyKey = newIdempotencyKey();
    seats.push(await client.seat({ gameId, playerId, tierId, stakeUsdCents, idempotencyKey }));
  }
  const { matchId } = await client.decide(seats[1].matchId, 'bob');
  const isPaid = () => store.row(matchId, 'bob')?.payoutUsdCents !== undefined;
  for await (const rows of client.follow(store)) if (isPaid()) break;
  const { outcome, result, payoutUsdCents } = store.row(matchId, 'bob');
  return [outcome, result, payoutUsdCents].join(' ');
}

export async function refused(baseUrl, key) {
  const client = new Client(baseUrl, key);
  return client.cancel('sea_unknown').catch((error) => error.name);
}

/** Signs a nudge as the service does, and returns what the client reads of it. */
export async function nudged(secret, body) {
  const at = Math.floor(Date.now() / 1000), bytes = new TextEncoder();
  const name = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), name, false, ['sign']);
  const signed = await crypto.subtle.sign('HMAC', key, bytes.encode(at + '.' + body));
  const digits = (byte) => byte.toString(16).padStart(2, '0');
  const hex = [...new Uint8Array(signed)].map(digits).join('');
  const raw = bytes.encode(body).buffer;
  return (await verifyWebhook([secret], 't=' + at + ',v1=' + hex, raw)).partnerId;
}
`;

const { context } = new EdgeVM();
const modules = new Map();

/** Returns a module of the built client, in the runtime. */
async function load(specifier) {
  if (!modules.has(specifier)) {
    const text = await readFile(new URL(`../dist/${specifier}`, import.meta.url), 'utf8');
    modules.set(specifier, new vm.SourceTextModule(text, { context, identifier: specifier }));
  }
  return modules.get(specifier);
}

const [baseUrl, key] = process.argv.slice(2);
const program = new vm.SourceTextModule(PROGRAM, { context, identifier: 'program' });
await program.link(load);
await program.evaluate();
const { nudged, refused, travel } = program.namespace;
console.log(await travel(baseUrl, key));
console.log(await refused(baseUrl, key));
console.log(await nudged('whsec_example', '{"type":"results","partnerId":"acme","at":1}'));
