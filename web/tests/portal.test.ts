import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf, placeOf, ROUTES } from '../src/portal/routes';
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

test('every page has an address in both environments', () => {
  for (const route of ROUTES) {
    for (const environment of ['test', 'live'] as const) {
      assert.deepEqual(placeOf(pathOf(environment, route)), { environment, route });
    }
    assert.deepEqual(placeOf(`/portal/${route.name}`), { environment: 'test', route });
  }
  assert.deepEqual(placeOf('/portal/live/nothing'), { environment: 'live', route: ROUTES[0] });
  assert.equal(placeOf('/portal').environment, 'test');
});
