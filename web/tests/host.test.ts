import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Host, readSettings } from '../src/frame/host';
import type { WindowLike } from '../src/frame/host';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

function open(how: { ancestors?: string[]; referrer?: string } = {}) {
  const told: [unknown, string][] = [];
  const tokens: string[] = [];
  let heard: (event: { source: unknown; origin: string; data: unknown }) => void = () => {};
  const parent = { postMessage: (message: unknown, origin: string) => told.push([message, origin]) };
  const window: WindowLike = {
    parent,
    location: how.ancestors === undefined ? {} : { ancestorOrigins: how.ancestors },
    document: { referrer: how.referrer ?? '' },
    addEventListener: (_type, then) => {
      heard = then;
    },
  };
  const host = new Host(window, [SHOP, OTHER], (token) => tokens.push(token));
  const say = (data: unknown, origin = SHOP, source: unknown = parent) => heard({ source, origin, data });
  return { host, say, told, tokens };
}

test('a token is taken from the parent on a registered origin and from nobody else', () => {
  const { say, tokens } = open();
  const message = { type: 'pgs.session', sessionToken: 'pgs1.a' };
  say(message, 'https://evil.example');
  say(message, SHOP, {});
  say({ ...message, type: 'pgs.other' });
  say('pgs.session');
  say(null);
  assert.deepEqual(tokens, []);
  say(message);
  assert.deepEqual(tokens, ['pgs1.a']);
});

test('what cannot be a token is refused aloud', () => {
  const { say, tokens, told } = open();
  for (const sessionToken of [undefined, 7, '', 'a b', 'ä', 'x'.repeat(5000)]) say({ type: 'pgs.session', sessionToken });
  assert.deepEqual(tokens, []);
  assert.equal(told.length, 6);
  assert.deepEqual(told[0], [{ type: 'pgs.error', reason: 'session_invalid' }, SHOP]);
});

test('messages go to the exact origin of the page around the frame', () => {
  for (const how of [{ ancestors: [OTHER] }, { referrer: `${OTHER}/play?x=1` }]) {
    const { host, told } = open(how);
    host.tell({ type: 'pgs.ready' });
    assert.deepEqual(told, [[{ type: 'pgs.ready' }, OTHER]]);
  }
});

test('where that origin is unknown each registered one is tried, until the page has spoken', () => {
  const { host, say, told } = open({ referrer: 'https://evil.example/' });
  host.tell({ type: 'pgs.ready' });
  assert.deepEqual(told.map(([, origin]) => origin), [SHOP, OTHER]);
  say({ type: 'pgs.session', sessionToken: 't' }, OTHER);
  told.length = 0;
  host.tell({ type: 'pgs.state' });
  assert.deepEqual(told.map(([, origin]) => origin), [OTHER]);
});

test('settings that are none trust nobody', () => {
  for (const text of [undefined, '', '%PGS_FRAME%', '{}', '{"origins":"*"}', 'null']) assert.deepEqual(readSettings(text).origins, []);
  assert.deepEqual(readSettings('{"partnerId":"acme","environment":"test","origins":["https://a.example"]}').origins, ['https://a.example']);
});
