import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agoOf, centsOf, dollars } from '../src/portal/parts/format';
import { linkTo, NOWHERE, pathOf, placeOf, ROUTES } from '../src/portal/routes';
import { claimsOf, insidePortal } from '../src/portal/sign-in';

const ORIGIN = 'https://games.example';

test('a sign-in goes on inside the portal and nowhere else', () => {
  for (const inside of ['/portal', '/portal/test/keys', '/portal/live/games?open=key_1']) {
    assert.equal(insidePortal(inside, ORIGIN), inside);
  }
  const outside = [
    '', '/', '/portals', '/portal/../partner/me', '//evil.example/portal/x', '/portal/signed-in',
    'https://evil.example/portal', 'javascript:alert(1)', '/embed/x', '\\\\evil.example\\portal',
    'https://games.example.evil.example/portal', '/portal/%2e%2e/%2e%2e/embed', 'http://[',
  ];
  for (const back of outside) assert.equal(insidePortal(back, ORIGIN), '/portal', back);
});

test('the claims of a token are read with all their characters', () => {
  const claims = { nonce: 'n', name: 'Zoë Łąka 選手' };
  const token = `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
  assert.deepEqual(claimsOf(token), claims);
  assert.throws(() => claimsOf('x'));
});

test('every page has an address', () => {
  for (const route of ROUTES) {
    for (const environment of ['test', 'live'] as const) {
      if (route.only !== undefined && route.only !== environment) continue;
      if (route.list !== undefined) continue; // its address has an id
      const place = { environment, route, id: null };
      assert.deepEqual(placeOf(pathOf(environment, route), environment), place);
      assert.deepEqual(placeOf(`/portal/${environment}/${route.name}`), place);
    }
  }
  const [home] = ROUTES;
  assert.deepEqual(placeOf('/portal/live/').route, home);
  assert.equal(placeOf('/portal').environment, 'test');
  assert.equal(placeOf('/portal/members', 'live').environment, 'live');
  assert.equal(pathOf('live', home!), '/portal/live');
});

test('an address that leads to no page says so, and does not show Home', () => {
  for (const path of ['live/nothing', 'nothing', 'live/try', 'test/matches', 'live/invoice/']) {
    assert.equal(placeOf(`/portal/${path}`).route, NOWHERE, path);
  }
  assert.equal(placeOf('/portal/live/nothing').environment, 'live');
});

test('a link to a page that one environment has leads there from both', () => {
  assert.equal(linkTo('live', 'try'), '/portal/test/try');
  assert.equal(linkTo('live', 'keys'), '/portal/live/keys');
});

test('a page about one thing has its id in the address', () => {
  const match = ROUTES.find((route) => route.name === 'matches')!;
  for (const id of ['mat_1', 'a/b', '%', 'ü?#']) {
    assert.deepEqual(placeOf(pathOf('live', match, id)), { environment: 'live', route: match, id });
  }
  assert.equal(placeOf('/portal/test/matches/%E0%A4%A').id, '%E0%A4%A');
});

test('money is typed in dollars and sent in cents', () => {
  const typed = { '5': 500, '5.5': 550, '$1,902.40': 190240, ' 0.07 ': 7 };
  for (const [text, cents] of Object.entries(typed)) assert.equal(centsOf(text), cents, text);
  for (const text of ['', '-1', '1.234', '1e3', 'ten', '1.', '1234567890']) {
    assert.equal(centsOf(text), null, text);
  }
  assert.equal(dollars(190240), '$1,902.40');
});

test('a time says how long ago it was', () => {
  const now = 1_000_000;
  const spans = { 2: 'just now', 59: '59 seconds ago', 60: '1 minute ago', 7200: '2 hours ago' };
  for (const [span, said] of Object.entries(spans)) {
    assert.equal(agoOf(now - Number(span), now), said);
  }
});
