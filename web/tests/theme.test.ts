import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast } from '../src/design/colour';
import { properties } from '../src/design/theme';
import { logoAddress } from '../src/frame/theme';
import { clockText } from '../src/frame/words';

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

test('a malformed colour, radius or logo is left out', () => {
  const malformed = {
    primaryColor: 'red',
    backgroundColor: '#12',
    textColor: 'url(x)',
    cornerRadius: 99,
  };
  assert.deepEqual(properties(malformed), {});
  assert.equal(logoAddress({ logo: { mime: 'image/svg+xml', base64: 'AAAA' } }), null);
  assert.equal(logoAddress({ logo: { mime: 'image/png', base64: '"/><script>' } }), null);
  assert.equal(logoAddress({ logo: null }), null);
  const webp = { mime: 'image/webp', base64: 'AAA=' };
  assert.equal(logoAddress({ logo: webp }), 'data:image/webp;base64,AAA=');
});

test('a clock shows 0:00 only when no time is left', () => {
  const times = [0, 1, 1000, 61_000, 300_000];
  assert.deepEqual(times.map(clockText), ['0:00', '0:01', '0:01', '1:01', '5:00']);
});
