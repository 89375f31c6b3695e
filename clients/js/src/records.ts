/**
 * What the service answers. The objects are as they were sent: fields that this release does not
 * know are kept, and texts such as `status` may have values that are newer than this release.
 *
 * Amounts are whole US cents, times are epoch seconds. A field that is absent is not set or not
 * known yet; it never means 0.
 */

export type Json = Readonly<Record<string, unknown>>;

/** The account of the key. `prices`: cents by tier id, for the tiers that have a price. */
export interface Account {
  readonly partnerId: string;
  readonly name: string;
  readonly apiVersion: number;
  readonly environment: string;
  readonly games: readonly string[];
  readonly origins: readonly string[];
  readonly prices: Readonly<Record<string, number>>;
  readonly webhook?: Webhook;
}

/** The state of the account's endpoint, without its secret. */
export interface Webhook {
  readonly url: string;
  readonly enabled: boolean;
  readonly consecutiveFailures: number;
  readonly createdAt: number;
  readonly secretRotatedAt: number;
  readonly disabledAt: number | null;
}

/** What a seat costs and what the winner gets. */
export interface Tier {
  readonly tierId: string;
  readonly name: string;
  readonly entryUsdCents: number;
  readonly floorUsdCents: number;
  readonly prizeUsdCents: number;
  readonly priced: boolean;
}

/**
 * A condition of a seat. `reason`: the code with which seats are refused while `ok` is false. Some
 * gates only advise: they have no `reason` and stop nothing.
 */
export interface Gate {
  readonly gate: string;
  readonly ok: boolean;
  readonly reason?: string;
  readonly advice?: string;
  readonly changeItAt?: string;
}

/** Every gate between the account and a seat at a game. `ready`: no gate stops a seat. */
export interface Readiness {
  readonly environment: string;
  readonly gameId: string;
  readonly ready: boolean;
  readonly gates: readonly Gate[];
}

/** A session for one player's frame. The page needs `embedUrl` and `sessionToken`. */
export interface Session {
  readonly sessionToken: string;
  readonly environment: string;
  readonly gameId: string;
  readonly playerId: string;
  readonly playerUid: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly embedUrl: string;
  readonly gameSocketUrl: string;
}

/**
 * A seat as it is now. `status`: pending, waiting, matched, ended, no_contest or declined.
 * `matchId` is null while the seat is pending, waiting or declined; a seat that ends without an
 * opponent gets a match of its own. `replayed`: whether an earlier call with the same key has taken
 * the seat.
 */
export interface Seat {
  readonly seatId: string;
  readonly matchId: string | null;
  readonly status: string;
  readonly stakeStatus: string;
  readonly environment: string;
  readonly gameId: string;
  readonly tierId: string;
  readonly playerId: string;
  readonly stakeUsdCents: number;
  readonly prizeUsdCents: number;
  readonly idempotencyKey: string;
  readonly seatedAt?: number;
  readonly expiresAt?: number;
  readonly partnerRef?: string;
  readonly replayed: boolean;
}

/** One side of a match. The amounts that it received are absent until the money is recorded. */
export interface MatchSeat {
  readonly seatId: string;
  readonly playerId: string;
  readonly stakeUsdCents: number;
  readonly result?: string;
  readonly score?: number;
  readonly payoutUsdCents?: number;
  readonly refundUsdCents?: number;
  readonly rakeUsdCents?: number;
  readonly partnerRef?: string;
}

/** A match as it is now. `status`: started, ended or no_contest. */
export interface Match {
  readonly matchId: string;
  readonly environment: string;
  readonly gameId: string;
  readonly tierId: string;
  readonly status: string;
  readonly prizeUsdCents: number;
  readonly seats: readonly MatchSeat[];
  readonly endReason?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/**
 * A row of the results feed, the only source of truth for what became of a match. It is keyed by
 * `matchId` and `playerId`, and it replaces a row with a lower `revision`. The money is recorded
 * when `payoutUsdCents` is there.
 */
export interface Row {
  readonly matchId: string;
  readonly playerId: string;
  readonly seatId: string;
  readonly idempotencyKey: string;
  readonly gameId: string;
  readonly tierId: string;
  readonly outcome: string;
  readonly stakeUsdCents: number;
  readonly updatedAt: number;
  readonly revision: number;
  readonly opponentPlayerId?: string;
  readonly partnerRef?: string;
  readonly result?: string;
  readonly endReason?: string;
  readonly score?: number;
  readonly payoutUsdCents?: number;
  readonly refundUsdCents?: number;
  readonly rakeUsdCents?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** An invoice. A draft has no number, no total and no lines yet. */
export interface Invoice {
  readonly invoiceId: string;
  readonly environment: string;
  readonly status: string;
  readonly periodFrom: string;
  readonly periodTo: string;
  readonly number?: number;
  readonly totalUsdCents?: number;
  readonly lineCount?: number;
  readonly createdAt?: number;
  readonly finalizedAt?: number;
  readonly dueAt?: number;
  readonly paidAt?: number;
  readonly voidedAt?: number;
}

/** The rake of the matches of one day, at one game and tier. */
export interface InvoiceLine {
  readonly lineId: string;
  readonly day: string;
  readonly gameId: string;
  readonly tierId: string;
  readonly description: string;
  readonly matches: number;
  readonly amountUsdCents: number;
}

/** A match that a line of an invoice bills. */
export interface InvoicedMatch {
  readonly matchId: string;
  readonly endedAt: number;
  readonly rakeUsdCents: number;
}

/** A page of a list. In the feed, `nextCursor` is never null. `tookMs`: how long the call took. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly tookMs: number;
}

/** An object lacks a field, or a field has another type. The message names the field. */
export class Unreadable extends Error {}

type Kind = 'string' | 'number' | 'boolean' | 'list' | 'object' | 'name or null';

const text = 'string', count = 'number', flag = 'boolean';

/** The fields that each record must have, with their types. Further fields are not looked at. */
export const SHAPES = {
  Account: {
    partnerId: text, name: text, apiVersion: count, environment: text, games: 'list',
    origins: 'list', prices: 'object',
  },
  Tier: {
    tierId: text, name: text, entryUsdCents: count, floorUsdCents: count, prizeUsdCents: count,
    priced: flag,
  },
  Readiness: { environment: text, gameId: text, ready: flag, gates: 'list' },
  Gate: { gate: text, ok: flag },
  Session: {
    sessionToken: text, environment: text, gameId: text, playerId: text, playerUid: text,
    issuedAt: count, expiresAt: count, embedUrl: text, gameSocketUrl: text,
  },
  Seat: {
    seatId: text, matchId: 'name or null', status: text, stakeStatus: text, environment: text,
    gameId: text, tierId: text, playerId: text, stakeUsdCents: count, prizeUsdCents: count,
    idempotencyKey: text,
  },
  Match: {
    matchId: text, environment: text, gameId: text, tierId: text, status: text,
    prizeUsdCents: count, seats: 'list',
  },
  MatchSeat: { seatId: text, playerId: text, stakeUsdCents: count },
  Row: {
    matchId: text, playerId: text, seatId: text, idempotencyKey: text, gameId: text, tierId: text,
    outcome: text, stakeUsdCents: count, updatedAt: count, revision: count,
  },
  Invoice: { invoiceId: text, environment: text, status: text, periodFrom: text, periodTo: text },
  InvoiceLine: {
    lineId: text, day: text, gameId: text, tierId: text, description: text, matches: count,
    amountUsdCents: count,
  },
  InvoicedMatch: { matchId: text, endedAt: count, rakeUsdCents: count },
} as const satisfies Record<string, Record<string, Kind>>;

export type RecordName = keyof typeof SHAPES;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fits(value: unknown, kind: Kind): boolean {
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'object') return isObject(value);
  if (kind === 'name or null') return value === null || typeof value === 'string';
  return typeof value === kind;
}

/** Returns the object as a record. Throws `Unreadable`. */
export function readRecord<T>(name: RecordName, sent: unknown): T {
  if (!isObject(sent)) throw new Unreadable(`${name} is not an object`);
  for (const [field, kind] of Object.entries(SHAPES[name])) {
    if (!fits(sent[field], kind)) throw new Unreadable(`${name} has no ${kind} ${field}`);
  }
  return sent as T;
}

/** Returns the records of a list. Throws `Unreadable`. */
export function readList<T>(name: RecordName, sent: Json, field: string): readonly T[] {
  const listed = sent[field];
  if (!Array.isArray(listed)) throw new Unreadable(`there is no list ${field}`);
  return listed.map((each) => readRecord<T>(name, each));
}
