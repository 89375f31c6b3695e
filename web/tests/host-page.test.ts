import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostPage, readDocument } from '../src/frame/host-page';
import type { MessageLike, WindowLike } from '../src/frame/host-page';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

/** Opens a frame in a page. Both origins above are registered. */
function open(page: { ancestors?: string[]; referrer?: string } = {}) {
  const sent: [unknown, string][] = [];
  const tokens: string[] = [];
  let listener: (event: MessageLike) => void = () => {};
  const parent = {
    postMessage: (message: unknown, origin: string) => sent.push([message, origin]),
  };
  const window: WindowLike = {
    parent,
    location: page.ancestors === undefined ? {} : { ancestorOrigins: page.ancestors },
    document: { referrer: page.referrer ?? '' },
    addEventListener: (_type, added) => {
      listener = added;
    },
  };
  const said: unknown[] = [];
  const host = new HostPage(window, [SHOP, OTHER], {
    onToken: (token) => tokens.push(token),
    onHost: (again, lang) => said.push([again, lang]),
  });
  const deliver = (data: unknown, origin = SHOP, source: unknown = parent) =>
    listener({ source, origin, data });
  return { host, deliver, sent, tokens, said };
}

test('a token is taken only from the parent, and only on a registered origin', () => {
  const { deliver, tokens } = open();
  const message = { type: 'pgs.session', sessionToken: 'pgs1.a' };
  deliver(message, 'https://evil.example');
  deliver(message, SHOP, {});
  deliver({ ...message, type: 'pgs.other' });
  deliver('pgs.session');
  deliver(null);
  assert.deepEqual(tokens, []);
  deliver(message);
  assert.deepEqual(tokens, ['pgs1.a']);
});

test('a malformed token is refused, and the page is told', () => {
  const { deliver, tokens, sent } = open();
  for (const sessionToken of [undefined, 7, '', 'a b', 'ä', 'x'.repeat(5000)]) {
    deliver({ type: 'pgs.session', sessionToken });
  }
  assert.deepEqual(tokens, []);
  assert.equal(sent.length, 6);
  assert.deepEqual(sent[0], [{ type: 'pgs.error', reason: 'session_invalid' }, SHOP]);
});

test('messages go to the exact origin of the host page', () => {
  for (const page of [{ ancestors: [OTHER] }, { referrer: `${OTHER}/play?x=1` }]) {
    const { host, sent } = open(page);
    host.send({ type: 'pgs.ready' });
    assert.deepEqual(sent, [[{ type: 'pgs.ready' }, OTHER]]);
  }
});

test('while that origin is unknown each registered one is tried, until the page has spoken', () => {
  const { host, deliver, sent } = open({ referrer: 'https://evil.example/' });
  host.send({ type: 'pgs.ready' });
  assert.deepEqual(sent.map(([, origin]) => origin), [SHOP, OTHER]);
  deliver({ type: 'pgs.session', sessionToken: 't' }, OTHER);
  sent.length = 0;
  host.send({ type: 'pgs.state' });
  assert.deepEqual(sent.map(([, origin]) => origin), [OTHER]);
});

test('data that cannot be read registers no origin', () => {
  for (const data of [undefined, '', '%PGS_FRAME%', '{}', '{"origins":"*"}', 'null']) {
    const nothing = { partnerId: null, environment: null, origins: [], theme: null };
    assert.deepEqual(readDocument(data), nothing);
  }
  const data = '{"partnerId":"acme","environment":"test","origins":["https://a.example"]}';
  const origins = ['https://a.example'];
  const read = { partnerId: 'acme', environment: 'test', origins, theme: null };
  assert.deepEqual(readDocument(data), read);
});

test('the page says whether it offers another match, and which language it wants', () => {
  const { deliver, said } = open();
  deliver({ type: 'pgs.host', again: true, lang: 'de' });
  deliver({ type: 'pgs.host', again: 'yes', lang: 7 });
  deliver({ type: 'pgs.host', again: true }, 'https://evil.example');
  assert.deepEqual(said, [[true, 'de'], [false, null]]);
});
