/** The entries of the event log as sentences. */

import { FAILURES_MAX } from '../parts/bounds';

export interface Entry {
  eventId: string;
  at: number;
  actor: string;
  action: string;
  detail: Readonly<Record<string, unknown>>;
}

/** What ids stand for: labels of keys, addresses of members, names of games. */
export type Names = ReadonlyMap<string, string>;

/** Who made the entries that no member made. */
export const PLATFORM = 'platform';

type Say = (of: (name: string) => string, names: Names) => string;

const named = (id: string, names: Names) => names.get(id) ?? id;

const SENTENCES: Record<string, Say> = {
  'account.created': () => 'opened the account',
  'account.deactivated': () => 'switched the account off',
  'account.reactivated': () => 'switched the account on',
  'account.domain_set': (of) => `set the domain ${of('domain')}`,
  'account.corrected': () => 'corrected the account',
  'account.rate_set': (of) => `set the rate to ${of('rate')} calls a second`,
  'api_version.pinned': (of) => `moved to API version ${of('version')}`,
  'emergency_stop.ordered': () => 'ordered an emergency stop',
  'feed.rewound': () => 'found that the feed has lost history',
  'game.test_enabled': (of, names) => `turned ${named(of('gameId'), names)} on in test`,
  'game.test_disabled': (of, names) => `turned ${named(of('gameId'), names)} off in test`,
  'game.live_requested': (of, names) => `requested live access to ${named(of('gameId'), names)}`,
  'game.live_taken_back': (of, names) => `gave up live access to ${named(of('gameId'), names)}`,
  'game.live_granted': (of, names) => `granted live access to ${named(of('gameId'), names)}`,
  'game.live_denied': (of, names) => `denied live access to ${named(of('gameId'), names)}`,
  'game.live_withdrawn': (of, names) => `withdrew live access to ${named(of('gameId'), names)}`,
  'invite.created': (of) => `invited ${of('email')} as ${of('role')}`,
  'invite.revoked': () => 'took an invite back',
  'invite.accepted': (of) => `joined as ${of('role')}`,
  'key.created': (of) => `created the key ${of('label')}, …${of('last4')}`,
  'key.rotated': (of, names) => `replaced the key ${named(of('keyId'), names)}`,
  'key.revoked': (of, names) => `revoked the key ${named(of('keyId'), names)}`,
  'member.role_changed': (of, names) => `made ${named(of('uid'), names)} ${of('role')}`,
  'member.removed': (of, names) => `removed ${named(of('uid'), names)}`,
  'origin.added': (of) => `let ${of('origin')} show the frame`,
  'origin.removed': (of) => `removed the origin ${of('origin')}`,
  'prices.set': () => 'set the prices',
  'rake_terms.agreed': (of) => `agreed to the rake terms ${of('version')}`,
  'rake_terms.ended': (of) => `ended the rake terms ${of('version')}`,
  'settlement.resolved': () => 'resolved a payment',
  'theme.set': () => 'changed the theme',
  'totp.enrolled': () => 'began to connect an authenticator',
  'totp.activated': () => 'connected an authenticator',
  'totp.reset': (of, names) => `reset the authenticator of ${named(of('uid'), names)}`,
  'totp.verified': () => 'gave a code',
  'totp.locked': () => 'locked the authenticator by wrong codes',
  'webhook.saved': (of) => `saved the webhook ${of('url')}`,
  'webhook.secret_rotated': () => "replaced the webhook's secret",
  'webhook.nudge_resent': (of) => `resent a nudge about ${of('matchId')}`,
  'webhook.disabled': (of) =>
    Number(of('consecutiveFailures')) >= FAILURES_MAX
      ? `switched the webhook off after ${FAILURES_MAX} failures in a row`
      : 'switched the webhook off',
};

/** What happened, as the rest of a sentence that begins with the name of who did it. */
export function sentenceOf({ action, detail }: Entry, names: Names): string {
  const say = Object.hasOwn(SENTENCES, action) ? SENTENCES[action] : undefined;
  return say?.((name) => String(detail[name] ?? ''), names) ?? action;
}

/** The kind of an entry: `key` of `key.created`. */
export const kindOf = ({ action }: Entry) => action.split('.')[0] ?? '';

/** Where it takes effect: `test`, `live`, or the whole account. */
export function whereOf({ action, detail }: Entry): 'test' | 'live' | 'account' {
  const { environment } = detail;
  if (environment === 'test' || environment === 'live') return environment;
  if (action.startsWith('game.')) return action.startsWith('game.test') ? 'test' : 'live';
  return 'account';
}

/** The page about what an entry has changed, and that page's title. */
const PAGES: Record<string, readonly [page: string, title: string]> = {
  account: ['account', 'Account'],
  api_version: ['versions', 'API version'],
  emergency_stop: ['account', 'Account'],
  game: ['games', 'Games'],
  invite: ['members', 'Members'],
  key: ['keys', 'API keys'],
  member: ['members', 'Members'],
  origin: ['origins', 'Origins'],
  prices: ['prices', 'Prices'],
  rake_terms: ['terms', 'Rake terms'],
  theme: ['theme', 'Theme'],
  totp: ['members', 'Members'],
  webhook: ['webhooks', 'Webhooks'],
};

/** The page that shows what an entry has changed, or null. `id`: the key or member to mark. */
export function placeOf(entry: Entry): { page: string; title: string; id: string | null } | null {
  const found = PAGES[kindOf(entry)];
  if (found === undefined) return null;
  const { newKeyId, keyId, uid } = entry.detail;
  const id = newKeyId ?? keyId ?? uid;
  return { page: found[0], title: found[1], id: typeof id === 'string' ? id : null };
}

export const whoOf = ({ actor }: Entry, names: Names) =>
  actor === PLATFORM ? 'the platform' : (names.get(actor) ?? actor);

export interface EntryFilter {
  text: string;
  kind: string;
  actor: string;
  /** The first second to show, or null for no limit. */
  since: number | null;
  /** The second after the last one to show, or null for no limit. */
  before: number | null;
}

/** Returns the entries that a filter lets through. A text is looked for in all that is shown. */
export function entriesOf(
  entries: readonly Entry[],
  { text, kind, actor, since, before }: EntryFilter,
  names: Names,
): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  return entries.filter((entry) => {
    if (kind !== '' && kindOf(entry) !== kind) return false;
    if (actor !== '' && entry.actor !== actor) return false;
    if (since !== null && entry.at < since) return false;
    if (before !== null && entry.at >= before) return false;
    if (wanted === '') return true;
    const { eventId, action } = entry;
    const said = `${whoOf(entry, names)} ${sentenceOf(entry, names)} ${action} ${eventId} `;
    return (said + JSON.stringify(entry.detail)).toLowerCase().includes(wanted);
  });
}
