/** Calls as the curl commands that a backend would send. A key is a variable, never a value. */

import type { Environment } from '../api';

/** The variable of the shell that stands for a key of an environment. */
export const keyOf = (environment: Environment) => `$PGS_${environment.toUpperCase()}_KEY`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(
  environment: Environment,
  method: string,
  path: string,
  body?: object,
): string {
  const verb = method === 'GET' ? '' : `-X ${method} `;
  const lines = [`curl ${verb}${quoted(location.origin + path)}`];
  lines.push(`  -H "Authorization: Bearer ${keyOf(environment)}"`);
  if (body !== undefined) {
    lines.push(`  -d ${quoted(JSON.stringify(body).replace(`"${CENTS}"`, CENTS))}`);
  }
  return lines.join(' \\\n');
}

/** Stands for a number, so it has no quotation marks in a command. */
const CENTS = 'CENTS';

const PLAYER = { gameId: 'tic-tac-toe', playerId: 'PLAYER' };

/** Bodies to fill in, by the path of the call. The stream contains no bodies. */
const BODIES: readonly (readonly [RegExp, object])[] = [
  [/^\/partner\/sessions$/, PLAYER],
  [
    /^\/partner\/matches$/,
    { ...PLAYER, tierId: 'TIER', stakeUsdCents: CENTS, idempotencyKey: 'ORDER' },
  ],
  [/\/decide$/, { outcome: 'ended', winnerPlayerId: 'PLAYER' }],
  [/^\/partner\/theme$/, { displayName: 'NAME' }],
];

/** A body for a call of which only method and path are known. */
export function bodyFor(method: string, path: string): object | undefined {
  if (method === 'GET') return undefined;
  return BODIES.find(([pattern]) => pattern.test(path))?.[1];
}
