/** API keys, and what their list says. */

import { dayOf, many, timeOf } from '../parts/format';

export interface Key {
  keyId: string;
  environment: string;
  label: string;
  createdAt: number;
  last4: string;
  status: 'active' | 'scheduled' | 'revoked';
  revokesAt?: number;
  lastUsedAt?: number;
  /** The uid of the member who made it, absent if the platform did. */
  createdBy?: string;
}

/** A key counts as in use for so many seconds after its last call. Uses are known to the hour. */
const IN_USE_S = 2 * 3600;

export const isUsed = (key: Key, now = Date.now() / 1000) =>
  key.lastUsedAt !== undefined && now - key.lastUsedAt < IN_USE_S;

/** Which keys work, which stop, which are still used. The first part is shown in bold. */
export function answerOf(
  keys: readonly Key[],
  environment: string,
  active: boolean,
): [string, string] {
  if (!active) return ['The account is switched off, so every key is refused.', ''];
  const working = keys.filter(({ status }) => status !== 'revoked');
  if (working.length === 0) {
    const none = keys.length === 0 ? 'No key yet' : 'No key works any more';
    return [`${none}, so your server cannot call anything in ${environment}.`, ''];
  }
  const bold = `${many(working.length, 'key works', 'keys work')} in ${environment}.`;
  const stopping = working.filter(({ status }) => status === 'scheduled');
  const used = stopping.find((key) => isUsed(key));
  if (used !== undefined) {
    const when = dayOf(used.revokesAt ?? 0);
    return [
      bold,
      `${used.label} stops on ${when} and is still used: change it on your server first.`,
    ];
  }
  return [
    bold,
    stopping.length === 0 ? '' : `${many(stopping.length, 'of them stops', 'of them stop')}.`,
  ];
}

/** The state of a key in words. */
export function stateOf(key: Key, active: boolean): string {
  if (key.status === 'active') return active ? 'works' : 'refused: account off';
  if (key.status === 'scheduled') return `stops ${timeOf(key.revokesAt)}`;
  return `revoked ${key.revokesAt === undefined ? '' : dayOf(key.revokesAt)}`.trim();
}
