/** The newest entries of the event log in words, and what ids in entries stand for. */

import { useEffect, useState } from 'preact/hooks';
import type { Api } from './api';
import { useNameOf } from './catalog';
import type { NameOf } from './catalog';
import { PLATFORM, sentenceOf, whoOf } from './words/events';
import type { Entry, Names } from './words/events';

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

/** Who did it: a member's address where the uid is known. */
export function nameOf(actor: string, members: readonly Member[]): string {
  if (actor === PLATFORM) return 'the platform';
  return members.find(({ uid }) => uid === actor)?.email ?? actor;
}

interface Key {
  keyId: string;
  label: string;
  last4: string;
}

/** What the ids in entries stand for. `nameOf`: the names of games. */
export function namesOf(
  keys: readonly Key[],
  members: readonly Pick<Member, 'uid' | 'email'>[],
  entries: readonly Entry[],
  nameOf: NameOf,
): Names {
  const found = new Map<string, string>();
  for (const { detail } of entries) {
    const { gameId } = detail;
    if (typeof gameId === 'string') found.set(gameId, nameOf(gameId));
  }
  for (const { keyId, label, last4 } of keys) found.set(keyId, `${label}, …${last4}`);
  for (const { uid, email } of members) found.set(uid, email);
  return found;
}

interface Read {
  events: Entry[];
  members: Member[];
  keys: Key[];
}

/** The newest entries of the log in words, or null until they are read. */
export function useChanges(api: Api, limit: number, after: unknown): Change[] | null {
  const nameOfGame = useNameOf();
  const [read, setRead] = useState<Read | null>(null);
  useEffect(() => {
    let wanted = true;
    const paths = [`events?limit=${limit}`, 'members?limit=500', 'keys?limit=500'];
    Promise.all(paths.map((path) => api.read<Partial<Read>>(path))).then(
      ([events, members, keys]) =>
        wanted && setRead({ ...events, ...members, ...keys } as Read),
      () => null,
    );
    return () => {
      wanted = false;
    };
  }, [api, limit, after]);
  if (read === null) return null;
  const names = namesOf(read.keys, read.members, read.events, nameOfGame);
  return read.events.map((entry) => ({
    who: whoOf(entry, names),
    at: entry.at,
    what: sentenceOf(entry, names),
  }));
}

/** The newest change of the account, which a dialog about a change names. */
export function useChange(api: Api): Change | null {
  return useChanges(api, 1, null)?.[0] ?? null;
}
