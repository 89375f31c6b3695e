import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast } from '../src/design/colour';
import { properties } from '../src/design/theme';
import { logoAddress } from '../src/frame/theme';
import { BUILT_IN } from '../src/frame/words/locale';

test('a theme sets properties, and text on the primary colour is readable', () => {
  const dark = properties({
    primaryColor: '#ffee00',
    backgroundColor: '#101418',
    textColor: '#eeeeee',
    cornerRadius: 12,
  });
  assert.deepEqual(dark, {
    '--primary': '#ffee00',
    '--on-primary': '#000000',
    '--background': '#101418',
    'color-scheme': 'dark',
    '--text': '#eeeeee',
    '--radius': '12px',
  });
  assert.equal(properties({ backgroundColor: '#ffffff' })['color-scheme'], 'light');
  assert.equal(properties({ primaryColor: '#123456' })['--on-primary'], '#ffffff');
  assert.equal(Math.round(contrast('#000000', '#ffffff')), 21);
});

test('a malformed colour or radius is left out', () => {
  const malformed = {
    primaryColor: 'red',
    backgroundColor: '#12',
    textColor: 'url(x)',
    cornerRadius: 99,
  };
  assert.deepEqual(properties(malformed), {});
});

test('a clock shows 0:00 only when no time is left', () => {
  const times = [0, 1, 1000, 61_000, 300_000];
  assert.deepEqual(
    times.map((time) => BUILT_IN.clock(time)),
    ['0:00', '0:01', '0:01', '1:01', '5:00'],
  );
});

test('a clock with tenths keeps its width, and shows 0:00.0 only when no time is left', () => {
  const times = [0, 1, 301, 1100, 4000, 9401, 9999];
  assert.deepEqual(
    times.map((time) => BUILT_IN.clock(time, 1)),
    ['0:00.0', '0:00.1', '0:00.4', '0:01.1', '0:04.0', '0:09.5', '0:10.0'],
  );
});

test('a logo comes from this service only', () => {
  const at = (url: string) => logoAddress({ logo: { mime: 'image/png', url } });
  assert.equal(at('/embed/logo/acme/abc'), '/embed/logo/acme/abc');
  assert.equal(at('https://games.example/embed/logo/abc'), '/embed/logo/abc');
  assert.equal(at('https://evil.example/logo.png'), null);
  assert.equal(at('/embed/../elsewhere'), null);
  assert.equal(logoAddress({ logo: null }), null);
  assert.equal(logoAddress(undefined), null);
});
