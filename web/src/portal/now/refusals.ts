/** What to do about a refusal: the advice of the guide, and the page of the portal that helps. */

import type { Environment } from '../api';
import { linkTo } from '../routes';

export interface Advice {
  reason: string;
  message: string;
  advice: string;
}

let reading: Promise<Map<string, Advice>> | null = null;

/** Reads the guide's list of errors once. */
export function readAdvice(): Promise<Map<string, Advice>> {
  reading ??= fetch('/docs/errors.json')
    .then((reply) => reply.json() as Promise<{ errors: Advice[] }>)
    .then(({ errors }) => new Map(errors.map((entry) => [entry.reason, entry])))
    .catch((error: unknown) => {
      reading = null;
      throw error;
    });
  return reading;
}

export const docOf = (reason: string) => `/docs/errors#${reason}`;

const HELPS: Record<string, readonly [page: string, act: string]> = {
  invalid_key: ['keys', 'See the keys'],
  partner_inactive: ['account', 'See the account'],
  unsupported_api_version: ['versions', 'See the versions'],
  game_not_licensed: ['games', 'Turn the game on'],
  game_not_licensed_in_this_environment: ['games', 'See the games'],
  unknown_tier: ['prices', 'See the tiers'],
  tier_locked: ['prices', 'See the tiers'],
  rake_terms_not_agreed: ['terms', 'Read and agree'],
  stake_below_floor: ['prices', 'See the prices'],
  stake_above_prize: ['prices', 'See the prices'],
  stake_does_not_match_price: ['prices', 'See the prices'],
  seat_not_found: ['find', 'Find a match'],
  match_not_found: ['find', 'Find a match'],
  live_theme_not_writable: ['theme', 'See the theme'],
};

/** The page that helps with a refusal, and the words of its button; null if none does. */
export function helpOf(
  environment: Environment,
  reason: string | undefined,
): { href: string; act: string } | null {
  const found = HELPS[reason ?? ''];
  return found === undefined ? null : { href: linkTo(environment, found[0]), act: found[1] };
}

/** A reason as words: `stake below floor`. */
export const wordsOfReason = (reason: string) => reason.replaceAll('_', ' ');
