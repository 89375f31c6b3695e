/**
 * Takes a seat for each order, several at a time, and then repeats each of these calls. Prints a
 * line for each seat. Exits with 0 if each order got the same seat both times. Run it with:
 * node orders.mjs BASE_URL KEY COUNT
 */

import assert from 'node:assert/strict';
import { Client } from '../dist/index.js';

const AT_ONCE = 4;
const [baseUrl, key, count] = process.argv.slice(2);
const client = new Client(baseUrl, key, {
  retries: { tries: 200, firstPauseMs: 20, longestPauseMs: 500 },
});

async function take(number) {
  const { seatId } = await client.seat({
    gameId: 'tic-tac-toe', playerId: `p-${number % 7}`, tierId: 'test-bronze', stakeUsdCents: 100,
    idempotencyKey: `order-${number}`,
  });
  console.log(`order-${number} ${seatId}`);
  return seatId;
}

async function takeAll() {
  const seats = [], numbers = Array.from({ length: Number(count) }, (_, number) => number).values();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const number of numbers) seats[number] = await take(number);
  }));
  return seats;
}

const first = await takeAll();
assert.equal(new Set(first).size, Number(count));
assert.deepEqual(await takeAll(), first);
console.log('arrived');
