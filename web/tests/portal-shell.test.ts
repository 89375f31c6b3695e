import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../src/portal/api';
import { bannersOf, ofAccount } from '../src/portal/banners';
import { commandsFor } from '../src/portal/palette';
import { blocksOf } from '../src/portal/parts/markdown';
import type { Gate, Standing } from '../src/portal/readiness';
import { placeOf } from '../src/portal/routes';
import { nextOf } from '../src/portal/parts/checklist';
import { stepsOf } from '../src/portal/steps';

const NOTHING = { webhook: undefined, keys: [], tiers: [] };

test('three failures in a row have a banner, and a webhook that is off the most urgent one', () => {
  const titles = (enabled: boolean, consecutiveFailures: number) =>
    bannersOf('test', { ...NOTHING, webhook: { enabled, consecutiveFailures } });
  assert.deepEqual(titles(true, 2), []);
  assert.equal(titles(true, 3)[0]!.title, 'Webhook in test: 3 nudges in a row failed.');
  assert.equal(titles(true, 9)[0]!.says, 'After 1 more failure the webhook is switched off.');
  assert.equal(titles(false, 10)[0]!.bad, true);
});

test('a price that is not in force has a banner, a tier without a price has none', () => {
  const tiers = [
    { name: 'Gold', priceUsdCents: 500, inForce: false },
    { name: 'Silver', inForce: false },
    { name: 'Bronze', priceUsdCents: 100, inForce: true },
  ];
  const found = bannersOf('live', { ...NOTHING, tiers });
  assert.deepEqual(found.map(({ page, bad }) => [page, bad]), [['prices', true]]);
  assert.match(found[0]!.says, /^Gold charges its floor/);
});

test('a scheduled key has a banner if it was used after it was rotated', () => {
  const week = 7 * 86400;
  const key = { environment: 'live', label: 'shop', status: 'scheduled' } as const;
  const keyed = (lastUsedAt: number) =>
    bannersOf('live', {
      ...NOTHING,
      keys: [{ ...key, revokesAt: 1_000_000 + week, lastUsedAt }],
    }).length;
  assert.deepEqual([keyed(999_999), keyed(1_000_001)], [0, 1]);
  assert.equal(bannersOf('test', { ...NOTHING, keys: [{ ...key, lastUsedAt: 9e9 }] }).length, 0);
});

const account = (role: Account['role']) => ({ role }) as Account;

test('an account that is switched off says so on every page', () => {
  assert.deepEqual(ofAccount('live', true), []);
  const [banner] = ofAccount('live', false);
  assert.deepEqual([banner!.page, banner!.bad], ['account', true]);
});

test('the palette offers what a role may do, pages by their words, and what an id names', () => {
  const names = (role: Account['role'], text: string) =>
    commandsFor(account(role), 'test', text).map(({ name }) => name);
  assert.ok(names('admin', '').includes('Invite somebody'));
  assert.ok(!names('developer', '').includes('Invite somebody'));
  assert.ok(!names('viewer', '').includes('Make a test key'));
  assert.deepEqual(names('viewer', 'rake'), ['Rake terms', 'Find matches of “rake”']);
  assert.deepEqual(names('viewer', 'emergency')[0], 'Account');
  assert.deepEqual(names('viewer', 'docs')[0], 'Guide for developers');
  const [match] = commandsFor(account('viewer'), 'live', 'mat_00ff');
  assert.equal(match!.path, '/portal/live/matches/mat_00ff');
  const ids = ['att_0a', 'ndg_0a', 'key_0a', 'evt_0a'];
  assert.deepEqual(
    ids.flatMap((id) => commandsFor(account('viewer'), 'live', id).map(({ path }) => path)),
    [
      '/portal/live/webhooks?open=att_0a',
      '/portal/live/webhooks?q=ndg_0a',
      '/portal/live/keys?open=key_0a',
      '/portal/events?open=evt_0a',
    ],
  );
  for (const { path } of commandsFor(account('admin'), 'live', '')) {
    assert.ok(path.startsWith('/portal/') || path === '/docs/', path);
  }
});

const GATES: Gate[] = [
  { gate: 'account_active', ok: true },
  {
    gate: 'rake_terms_agreed',
    ok: false,
    reason: 'rake_terms_not_agreed',
    changeItAt: 'https://games.example/portal/test/terms',
  },
  { gate: 'webhook_on', ok: false, changeItAt: 'https://games.example/portal/test/webhooks' },
];

test('the steps are those the service tells, and who may not do one is told whom to ask', () => {
  const standing: Standing = {
    game: null,
    readiness: { gameId: 'reversi', ready: false, gates: GATES },
    keys: 0,
    matches: [],
    failures: 0,
    admins: ['ada@a.example'],
  };
  const context = { environment: 'test', standing, busy: false, turnOn: () => {} } as const;
  const { needed, advised } = stepsOf({ ...context, account: account('developer') });
  assert.deepEqual(
    needed.map(({ name, done }) => [name, done]),
    [['account_active', true], ['rake_terms_agreed', false], ['key', false], ['play', false]],
  );
  assert.deepEqual(advised.map(({ name }) => name), ['webhook_on']);
  const shown = (role: Account['role']) =>
    JSON.stringify(stepsOf({ ...context, account: account(role) }).needed[1]!.act!(true));
  const nextOfRole = (role: Account['role']) =>
    nextOf(stepsOf({ ...context, account: account(role) }).needed);
  assert.equal(nextOfRole('admin')?.href, '/portal/test/terms');
  assert.equal(nextOfRole('developer')?.href, undefined);
  assert.match(shown('developer'), /Ask an admin: ada@a\.example/);
  assert.match(shown('admin'), /"href":"\/portal\/test\/terms"/);
});

test('every page that the service names in changeItAt is there', () => {
  for (const page of ['account', 'games', 'terms', 'prices', 'origins', 'webhooks', 'security']) {
    assert.equal(placeOf(`/portal/live/${page}`).route.name, page);
  }
  assert.equal(placeOf('/portal/live/theme').route.name, 'theme');
});

test('terms are cut into headings, paragraphs and lists, whatever their lines', () => {
  const text = '# One\n\nA line\nand more.\n\n1. first\n   goes on\n2. second\n\n- <b>x</b>\n';
  assert.deepEqual(
    blocksOf(text).map(({ kind, lines }) => [kind, lines]),
    [
      ['heading', ['One']],
      ['paragraph', ['A line and more.']],
      ['numbers', ['first goes on', 'second']],
      ['bullets', ['<b>x</b>']],
    ],
  );
});
