import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAst } from 'vite';
import { en } from '../src/frame/words/en';
import { chooseLanguage, localeOf } from '../src/frame/words/locale';
import type { Key } from '../src/frame/words/en';

const LANGUAGES = ['ar', 'de', 'es', 'fr', 'pt'];
const KEYS = Object.keys(en) as Key[];

const formsOf = (text: unknown): string[] =>
  typeof text === 'string' ? [text] : Object.values(text as Record<string, string>);
const parametersOf = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '').sort();

async function catalogueOf(language: string): Promise<Record<string, unknown>> {
  const read = (await import(`../src/frame/words/${language}.ts`)) as {
    catalogue: Record<string, unknown>;
  };
  return read.catalogue;
}

for (const language of LANGUAGES) {
  test(`the catalogue of ${language} has every text, with its parameters`, async () => {
    const catalogue = await catalogueOf(language);
    assert.deepEqual(Object.keys(catalogue).sort(), [...KEYS].sort());
    for (const key of KEYS) {
      const expected = new Set(formsOf(en[key]).flatMap(parametersOf));
      const found = new Set(formsOf(catalogue[key]).flatMap(parametersOf));
      assert.deepEqual([...found].sort(), [...expected].sort(), key);
      assert.ok(
        formsOf(catalogue[key]).every((text) => text.trim() !== ''),
        key,
      );
    }
  });

  test(`${language} has a form for each of its plurals, and writes money its own way`, async () => {
    const locale = await localeOf(language);
    for (const n of [0, 1, 2, 3, 11, 100]) {
      assert.doesNotMatch(locale.text('discs', { n }), /[{}]/);
      assert.notEqual(locale.text('discs', { n }), '');
    }
    const digits = new Intl.NumberFormat(language).format(9);
    assert.ok(locale.money(900).includes(digits));
    assert.equal(locale.direction, language === 'ar' ? 'rtl' : 'ltr');
  });
}

test('the first language that has a catalogue is chosen, else English', async () => {
  assert.equal(chooseLanguage(['xx', 'pt-BR', 'de']), 'pt-BR');
  assert.equal(chooseLanguage(['en-GB', 'de']), 'en-GB');
  assert.equal(chooseLanguage(['toString', '..', '']), 'en');
  assert.equal((await localeOf('en-GB')).text('resign'), 'Resign');
  assert.equal((await localeOf('de-AT')).text('resign'), 'Aufgeben');
});

/** The names of attributes whose text people read or hear. */
const SPOKEN = new Set(['aria-label', 'title', 'alt', 'placeholder', 'aria-description']);

/** Returns the texts in a piece of TSX that stand in the markup and in no catalogue. */
function textsOf(code: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, value, name } = node as { type?: string; value?: unknown; name?: unknown };
    if (type === 'JSXText' && /\p{L}{2}/u.test(String(value))) found.push(String(value).trim());
    const attribute = String((name as { name?: unknown } | null)?.name);
    if (type === 'JSXAttribute' && SPOKEN.has(attribute)) {
      const given = (value as { value?: unknown } | null)?.value;
      if (typeof given === 'string' && given !== '') found.push(given);
    }
    // A text with a space and a capital is a sentence, wherever it stands.
    if (type === 'Literal' && typeof value === 'string' && /^\p{Lu}\p{Ll}+ \p{L}/u.test(value)) {
      found.push(value);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code, { lang: 'tsx' }));
  return found;
}

test('no text for people stands outside the catalogues', () => {
  assert.deepEqual(textsOf('<p title="Hi">Yes {f("It is late")}</p>'), ['Hi', 'Yes', 'It is late']);
  const texts: string[] = [];
  for (const folder of ['src/frame', 'src/design']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name) || name.endsWith('.d.ts') || name.startsWith('words')) continue;
      const code = readFileSync(join(folder, name), 'utf8');
      texts.push(...textsOf(code).map((text) => `${name}: ${text}`));
    }
  }
  assert.deepEqual(texts, []);
});

test('every text of the catalogue is used', () => {
  const code = readdirSync('src/frame', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('words'))
    .map((name) => readFileSync(join('src/frame', name), 'utf8'))
    .join('\n');
  const dynamic = /^(game|side|mark|piece|hint|cell|how|void)\.|\.(title|text)$/;
  const unused = KEYS.filter((key) => !dynamic.test(key) && !code.includes(`'${key}'`));
  assert.deepEqual(unused, []);
});
