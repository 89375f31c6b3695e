/** Entries of the event log in words. */

import { useEffect, useState } from 'preact/hooks';
import type { Api } from './api';

export interface LoggedEvent {
  eventId: string;
  at: number;
  actor: string;
  action: string;
  detail: Record<string, unknown>;
}

export interface Member {
  uid: string;
  email: string;
  role: 'admin' | 'developer' | 'viewer';
  joinedAt: number;
  /** Whether an authenticator is connected. Absent unless the reader is an admin. */
  hasAuthenticator?: boolean;
}

export interface Change {
  who: string;
  at: number;
  what: string;
}

/** What an action did: the rest of a sentence that begins with the name of who did it. */
const DONE: Record<string, string> = {
  'account.corrected': 'corrected the account',
  'account.created': 'opened the account',
  'account.deactivated': 'switched the account off',
  'account.domain_set': 'set the domain',
  'account.rate_set': 'set the rate of calls',
  'account.reactivated': 'switched the account on',
  'api_version.pinned': 'moved an API version',
  'emergency_stop.ordered': 'ordered an emergency stop',
  'feed.rewound': 'found that the feed has lost history',
  'game.live_denied': 'denied live access to a game',
  'game.live_granted': 'granted live access to a game',
  'game.live_requested': 'requested live access to a game',
  'game.live_taken_back': 'took live access to a game back',
  'game.live_withdrawn': 'withdrew live access to a game',
  'game.test_disabled': 'turned a game off in test',
  'game.test_enabled': 'turned a game on in test',
  'invite.accepted': 'accepted an invite',
  'invite.created': 'invited somebody',
  'invite.revoked': 'took an invite back',
  'key.created': 'made a key',
  'key.revoked': 'revoked a key',
  'key.rotated': 'rotated a key',
  'member.removed': 'removed a member',
  'member.role_changed': 'changed a role',
  'origin.added': 'added an origin',
  'origin.removed': 'removed an origin',
  'prices.set': 'set prices',
  'rake_terms.agreed': 'agreed to the rake terms',
  'rake_terms.ended': 'ended the rake terms',
  'settlement.resolved': 'resolved a payment',
  'theme.set': 'changed the theme',
  'totp.activated': 'connected an authenticator',
  'totp.enrolled': 'began to connect an authenticator',
  'totp.locked': 'locked an authenticator by wrong codes',
  'totp.reset': 'reset an authenticator',
  'totp.verified': 'gave a code',
  'webhook.disabled': 'switched a webhook off',
  'webhook.nudge_resent': 'resent a nudge',
  'webhook.saved': 'saved a webhook',
  'webhook.secret_rotated': 'replaced a signing secret',
};

/** What an action did. An action without words is shown as its code. */
export const doneBy = (action: string) => DONE[action] ?? action;

/** Who did it: a member's address where the uid is known. */
export function nameOf(actor: string, members: readonly Member[]): string {
  if (actor === 'platform') return 'the platform';
  return members.find(({ uid }) => uid === actor)?.email ?? actor;
}

/** The newest entries of the log in words, or null until they are read. */
export function useChanges(api: Api, limit: number, after: unknown): Change[] | null {
  const [changes, setChanges] = useState<Change[] | null>(null);
  useEffect(() => {
    let wanted = true;
    const read = async () => {
      const [{ events }, { members }] = await Promise.all([
        api.read<{ events: LoggedEvent[] }>(`events?limit=${limit}`),
        api.read<{ members: Member[] }>('members?limit=500'),
      ]);
      const told = events.map(({ at, actor, action }) => ({
        who: nameOf(actor, members),
        at,
        what: doneBy(action),
      }));
      if (wanted) setChanges(told);
    };
    read().catch(() => null);
    return () => {
      wanted = false;
    };
  }, [api, limit, after]);
  return changes;
}

/** The newest change of the account, which a dialog about a change names. */
export function useChange(api: Api): Change | null {
  return useChanges(api, 1, null)?.[0] ?? null;
}
