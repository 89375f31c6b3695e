import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast } from '../src/design/colour';
import { playersOf } from '../src/portal/match/columns';
import { csvOf } from '../src/portal/parts/csv';
import {
  daysIn, forInput, isDay, latestFinal, monthOf, plusDays, shortDay,
} from '../src/portal/parts/days';
import { shortTimeOf } from '../src/portal/parts/format';
import { canBeRead, mendedText } from '../src/portal/parts/mend';
import { LINES, stepFor } from '../src/portal/parts/scale';
import { offsetOf, rowsShown, WHOLE_MAX } from '../src/portal/parts/window';
import { answerOf, dueSays, firstSays, monthSays, owed } from '../src/portal/words/invoices';

test('the rows that are drawn cover what is visible, and the rest keeps its height', () => {
  const low = Array.from({ length: 10_000 }, () => 40);
  const mixed = low.map((height, row) => height + (row % 7) * 19);
  for (const heights of [low, mixed, low.with(40, 373), mixed.with(9_999, 373)]) {
    const whole = offsetOf(heights, heights.length);
    for (const top of [-500, 0, 39, 1_640, 1_900, 2_400, 123_456, whole - 900, whole + 5]) {
      const { first, end, above, below } = rowsShown(heights, top, 900);
      const drawn = offsetOf(heights, end) - offsetOf(heights, first);
      assert.equal(above + drawn + below, whole);
      assert.ok(end - first <= 60, `${end - first} rows`);
      const from = Math.max(0, Math.min(top, whole));
      assert.ok(above <= from, `${above} above ${from}`);
      assert.ok(above + drawn >= Math.min(whole, Math.max(0, top + 900)));
    }
  }
  assert.deepEqual(rowsShown(low.slice(0, WHOLE_MAX), 9_999, 900), {
    first: 0,
    end: WHOLE_MAX,
    above: 0,
    below: 0,
  });
});

test('a time in a column has its year only if that is another one', () => {
  const at = Date.UTC(2026, 11, 31, 23, 58) / 1000;
  assert.equal(shortTimeOf(at, at + 60), '31 Dec, 23:58');
  assert.equal(shortTimeOf(at, at + 180), '31 Dec 2026, 23:58');
});

test('a file of values has its quotes doubled and its formulas as text', () => {
  const rows = [
    ['a', 'b'],
    ['=1+1', 'x "y", z'],
    [-5, null],
    ['-5', 'two\nlines'],
  ];
  const text = 'a,b\r\n\'=1+1,"x ""y"", z"\r\n-5,\r\n\'-5,"two\nlines"\r\n';
  assert.equal(csvOf(rows), text);
});

test('the latest day that may be final is yesterday, from half an hour after midnight UTC', () => {
  assert.equal(latestFinal(Date.UTC(2026, 2, 1, 0, 29, 59)), '20260227');
  assert.equal(latestFinal(Date.UTC(2026, 2, 1, 0, 30, 0)), '20260228');
  assert.equal(latestFinal(Date.UTC(2026, 2, 1, 23, 59, 59)), '20260228');
});

test('days are counted across months, and a text that is no day is recognised', () => {
  assert.equal(plusDays('20280228', 2), '20280301');
  assert.equal(plusDays('20260101', -1), '20251231');
  assert.equal(daysIn('20260228', '20260301'), 2);
  assert.deepEqual([shortDay('20261120'), monthOf('20261120')], ['20 Nov', 'November 2026']);
  assert.equal(forInput('20261120'), '2026-11-20');
  for (const text of ['', '20260230', '2026113', '20261320', 'x0261120']) assert.ok(!isDay(text));
  assert.ok(isDay('20280229'));
});

test('an axis ends at or above its largest value, on round numbers', () => {
  for (const most of [0, 1, 3, 4, 5, 7, 93, 100, 226, 4_287, 999_999]) {
    const step = stepFor(most);
    assert.ok(Number.isInteger(step) && step >= 1);
    assert.ok(step * LINES >= most, `${step} for ${most}`);
    assert.ok(most < LINES || step * LINES < most * 2.01, `${step} for ${most}`);
  }
});

test('a text that cannot be read is mended with the least change', () => {
  for (const background of ['#FBF7EF', '#101418', '#808080', '#3457D5', '#FFFFFF', '#000000']) {
    for (const text of ['#A58F76', '#777777', '#FFFFFF', '#00FF00', '#FF0000']) {
      const mended = mendedText(text, background);
      assert.ok(mended !== null && contrast(mended, background) >= 4.5, `${text} ${background}`);
      if (canBeRead(text, background)) assert.equal(mended, text);
      else assert.ok(contrast(mended, background) < 4.9, `${mended} goes too far`);
    }
  }
  assert.equal(mendedText('brown', '#FFFFFF'), null);
});

test('a page without invoices says when the first one comes, and what it bills', () => {
  const inNovember = firstSays('live', Date.UTC(2026, 10, 24));
  assert.match(inNovember, /decided in November 2026 are billed on Tuesday 1 December/);
  assert.match(firstSays('live', Date.UTC(2027, 0, 31)), /billed on Monday 1 February/);
  assert.match(firstSays('test', Date.UTC(2026, 1, 1)), /Sunday 1 March.*In test it is/);
});

test('the current month is summed up to its latest final day, and no other month is', () => {
  const totals = {
    matches: 2_382, seats: 4_764, noContests: 0, stakesUsdCents: 0, payoutsUsdCents: 0,
    refundsUsdCents: 0, rakeUsdCents: 238_200,
  };
  const usage = { to: '20261123', totals };
  assert.deepEqual(monthSays(usage, Date.UTC(2026, 10, 24)), [
    '2,382 matches, $2,382.00 of rake',
    'in November 2026 up to 23 Nov, the latest final day.',
  ]);
  const early = { to: '20261130', totals };
  const none = ['No day of December 2026 is final yet.', ''];
  assert.deepEqual(monthSays(early, Date.UTC(2026, 11, 1, 12)), none);
});

test('an invoice of the test environment is never due', () => {
  const open = {
    invoiceId: 'inv_1', environment: 'live', status: 'open', createdAt: 0, dueAt: 86_400 * 9,
    periodFrom: '20261001', periodTo: '20261031', totalUsdCents: 760,
  } as const;
  const practice = { ...open, environment: 'test' };
  assert.equal(dueSays(open, 0), '10 Jan 1970, in 9 days');
  assert.equal(dueSays(open, 86_400 * 12), '10 Jan 1970, 3 days late');
  assert.equal(dueSays(practice, 0), 'never: for practice');
  assert.equal(owed([open], 'live')[0], 'One is open: $7.60, due on 10 Jan 1970.');
  assert.equal(owed([practice], 'test')[0], 'One is open: $7.60, for practice.');
  assert.equal(answerOf(practice)[0], '$7.60, for practice.');
});

test('a list of matches names the winner first', () => {
  const seat = (playerId: string, result?: 'won' | 'lost' | 'drawn') =>
    ({ seatId: playerId, playerId, stakeUsdCents: 100, ...(result && { result }) }) as const;
  assert.equal(playersOf([seat('ana', 'lost'), seat('ben', 'won')]), 'ben beat ana');
  assert.equal(playersOf([seat('ana', 'drawn'), seat('ben', 'drawn')]), 'ana and ben');
  assert.equal(playersOf([seat('ana'), seat('ben')]), 'ana and ben');
  assert.equal(playersOf([seat('ben', 'won')]), 'ben');
});
