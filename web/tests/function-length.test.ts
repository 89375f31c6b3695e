import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAst } from 'vite';

const FOLDERS = ['src', 'tests', 'public'];
const LONGEST = 60;

/** Returns the first line and the number of lines of each function in a piece of TypeScript. */
function functionsOf(code: string): { line: number; length: number }[] {
  const found: { line: number; length: number }[] = [];
  const lineOf = (offset: number) => code.slice(0, offset).split('\n').length;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, start, end } = node as { type?: string; start: number; end: number };
    if (type?.includes('Function')) {
      found.push({ line: lineOf(start), length: lineOf(end) - lineOf(start) + 1 });
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code, { lang: 'tsx' }));
  return found;
}

test('no function is over 60 lines long', () => {
  const tooLong: string[] = [];
  let count = 0;
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|tsx?)$/.test(name) || name.endsWith('.d.ts')) continue;
      for (const { line, length } of functionsOf(readFileSync(join(folder, name), 'utf8'))) {
        count += 1;
        if (length > LONGEST) tooLong.push(`${join(folder, name)}:${line} has ${length} lines`);
      }
    }
  }
  assert.ok(count > 100, 'the functions are found');
  assert.deepEqual(tooLong, []);
});
