/** A fetch that answers from a script. */

import { Client } from '../dist/index.js';

export const BASE = 'https://games.example';
export const KEY = `pgs_test_${'k'.repeat(46)}`;

export const SEAT = {
  seatId: 'sea_1', matchId: null, status: 'waiting', stakeStatus: 'confirmed', environment: 'test',
  gameId: 'tic-tac-toe', tierId: 'bronze', playerId: 'p-1', stakeUsdCents: 100, prizeUsdCents: 180,
  seatedAt: 5, idempotencyKey: 'order-1',
};
export const PURCHASE = {
  gameId: 'tic-tac-toe', playerId: 'p-1', tierId: 'bronze', stakeUsdCents: 100,
  idempotencyKey: 'order-1',
};

export const row = (playerId = 'p-1', revision = 1, changes = {}) => ({
  matchId: 'mat_1', playerId, seatId: 'sea_1', idempotencyKey: 'order-1', gameId: 'tic-tac-toe',
  tierId: 'bronze', outcome: 'started', stakeUsdCents: 100, updatedAt: 5, revision, ...changes,
});
export const page = (results, nextCursor = 'c1', hasMore = false) => ({
  environment: 'test', results, nextCursor, hasMore,
});
export const refusal = (reason, fields = {}) => ({ error: 'A sentence.', reason, ...fields });

/** Each answer is an error to throw, or a list of status, body and headers. */
export function script(...answers) {
  const requests = [], pauses = [], warnings = [];
  const client = (options = {}) => new Client(BASE, KEY, {
    fetch: async (address, init) => {
      requests.push({ address, ...init });
      const said = answers.shift();
      if (said instanceof Error) throw said;
      const [status, body, headers = {}] = said;
      const content = typeof body === 'string' ? body : JSON.stringify(body);
      return new Response(status === 204 || status === 304 ? null : content, { status, headers });
    },
    sleep: async (ms) => { pauses.push(ms); },
    warn: (message) => { warnings.push(message); },
    ...options,
  });
  return { client, requests, pauses, warnings };
}
