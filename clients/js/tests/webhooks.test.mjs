/** Webhooks: a body is accepted only if it was signed with the secret, and not long ago. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { verifyWebhook } from '../dist/index.js';

const SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const BODY = Buffer.from('{"type":"results.available","partnerId":"acme","at":1800000000}');
const HEADER = 't=1800000000,v1=b98a2c741bd17a2dff6deb2e0cea04d1e1ab4ece2472eb1ce4f46793985ea502';
const NOW = { now: 1800000000 };

function sign(body, at = 1800000000) {
  const signature = createHmac('sha256', SECRET).update(`${at}.`).update(body).digest('hex');
  return `t=${at},v1=${signature}`;
}

test('a nudge that is signed is returned', async () => {
  const nudge = { type: 'results.available', partnerId: 'acme', at: 1800000000 };
  assert.deepEqual(await verifyWebhook(SECRET, HEADER, BODY, NOW), nudge);
  const buffer = new Uint8Array(BODY).buffer;
  assert.deepEqual(await verifyWebhook(SECRET, HEADER, buffer, { now: 1800000300 }), nudge);
});

test('both secrets are accepted after a rotation', async () => {
  for (const secrets of [['whsec_new', SECRET], [SECRET, 'whsec_new']]) {
    assert.equal((await verifyWebhook(secrets, HEADER, BODY, NOW)).partnerId, 'acme');
  }
  await assert.rejects(verifyWebhook(['whsec_new'], HEADER, BODY, NOW), /not valid/);
});

test('the clock of the machine is used by default', async () => {
  const at = Math.floor(Date.now() / 1000);
  const body = Buffer.from(BODY.toString().replace('1800000000', String(at)));
  assert.equal((await verifyWebhook(SECRET, sign(body, at), body)).at, at);
});

for (const [name, header, body, now] of [
  ['another body', HEADER, Buffer.concat([BODY, Buffer.from(' ')]), 0],
  ['an old signature', HEADER, BODY, 301],
  ['a signature of the future', HEADER, BODY, -301],
  ['a clock that is no number', HEADER, BODY, NaN],
  ['upper case', HEADER.toUpperCase(), BODY, 0],
  ['a short signature', HEADER.slice(0, -1), BODY, 0],
  ['another scheme', HEADER.replace('v1=', 'v0='), BODY, 0],
  ['a time with a sign', 't=+1800000000,v1=00', BODY, 0],
  ['no header', undefined, BODY, 0],
  ['a list', sign('[]'), Buffer.from('[]'), 0],
  ['no JSON', sign('x'), Buffer.from('x'), 0],
  ['no UTF-8', sign(Buffer.from([255])), Buffer.from([255]), 0],
]) {
  test(`${name} is refused`, async () => {
    const options = { now: 1800000000 + now };
    await assert.rejects(verifyWebhook(SECRET, header, body, options), {
      name: 'InvalidSignature',
    });
  });
}

test('a body that was decoded already, or no secret, is refused', async () => {
  await assert.rejects(verifyWebhook(SECRET, HEADER, BODY.toString(), NOW), TypeError);
  for (const secrets of ['', [], ['', SECRET]]) {
    await assert.rejects(verifyWebhook(secrets, HEADER, BODY, NOW), TypeError);
  }
});
