/** The calls of the service as values. `Client` makes them. */

import {
  readList, readRecord, Unreadable, type Account, type Gate, type Invoice, type InvoicedMatch,
  type InvoiceLine, type Json, type Match, type MatchSeat, type Page, type Readiness,
  type RecordName, type Row, type Seat, type Session, type Tier,
} from './records.js';

/** Entries of a page, the most that the service allows: fewer calls for a long list. */
export const PAGE_MAX = 500;

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly tookMs: number;
}

/**
 * A call of the service. `read` turns a successful answer into what the caller gets.
 *
 * `echo`: fields that the answer to this call must repeat. `isSettled` tells whether a successful
 * answer needs no further try. Every call may be repeated: reads change nothing, a session costs
 * nothing, a seat is named by its idempotency key, and a cancellation or decision counts once.
 */
export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly sent?: Json;
  readonly echo?: Json;
  readonly heldMs?: number;
  readonly read: (sent: Json, answer: Answer) => T;
  readonly isSettled?: (read: T) => boolean;
}

export interface MintOptions {
  gameId: string;
  playerId: string;
  displayName?: string;
  ttlSeconds?: number;
}

export interface SeatOptions {
  gameId: string;
  playerId: string;
  tierId: string;
  stakeUsdCents: number;
  idempotencyKey: string;
  partnerRef?: string;
}

/**
 * Give `since` (epoch seconds) only without a cursor: the service refuses both together.
 * `waitSeconds`: 0 to 25.
 */
export interface ResultsOptions {
  since?: number;
  waitSeconds?: number;
  limit?: number;
}

export interface InvoiceOptions {
  fromDay?: string;
  toDay?: string;
  status?: string;
}

type Query = Record<string, string | number | null | undefined>;

function pathOf(parts: readonly string[], query: Query = {}): string {
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new TypeError('an id is empty or is no id');
  }
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) given.set(name, String(value));
  }
  const path = `/partner/${parts.map(encodeURIComponent).join('/')}`;
  return given.size > 0 ? `${path}?${given}` : path;
}

function hideToken(session: Session): Session {
  const shown = { ...session, sessionToken: '…' };
  return Object.defineProperty({ ...session }, Symbol.for('nodejs.util.inspect.custom'), {
    value: () => shown,
  });
}

const readMatch = (sent: Json): Match => ({
  ...readRecord<Match>('Match', sent),
  seats: readList<MatchSeat>('MatchSeat', sent, 'seats'),
});

const readSeat = (sent: Json, { headers }: Answer): Seat => ({
  ...readRecord<Seat>('Seat', sent),
  replayed: headers.get('Idempotent-Replayed') === 'true',
});

function readPage<T>(name: RecordName, field: string, sent: Json, tookMs: number): Page<T> {
  const { nextCursor, hasMore } = sent;
  if (typeof hasMore !== 'boolean' || !(nextCursor === null || typeof nextCursor === 'string')) {
    throw new Unreadable(`the page of ${field} has no nextCursor or no hasMore`);
  }
  return { items: readList<T>(name, sent, field), nextCursor, hasMore, tookMs };
}

export const me = (): Call<Account> => ({
  method: 'GET', path: pathOf(['me']), read: (sent) => readRecord('Account', sent),
});

export const tiers = (gameId: string): Call<readonly Tier[]> => ({
  method: 'GET',
  path: pathOf(['tiers'], { gameId }),
  echo: { gameId },
  read: (sent) => readList('Tier', sent, 'tiers'),
});

export const readiness = (gameId: string): Call<Readiness> => ({
  method: 'GET',
  path: pathOf(['readiness'], { gameId }),
  echo: { gameId },
  read: (sent) => ({
    ...readRecord<Readiness>('Readiness', sent), gates: readList<Gate>('Gate', sent, 'gates'),
  }),
});

export const mint = (options: MintOptions): Call<Session> => ({
  method: 'POST',
  path: pathOf(['sessions']),
  sent: { ...options },
  echo: { gameId: options.gameId, playerId: options.playerId },
  read: (sent) => hideToken(readRecord('Session', sent)),
});

export const seat = (options: SeatOptions): Call<Seat> => {
  const { gameId, playerId, tierId, idempotencyKey } = options;
  return {
    method: 'POST',
    path: pathOf(['matches']),
    sent: { ...options },
    echo: { gameId, playerId, tierId, idempotencyKey },
    read: readSeat,
    isSettled: (taken) => taken.status !== 'pending',
  };
};

export const seatNow = (seatId: string): Call<Seat> => ({
  method: 'GET', path: pathOf(['seats', seatId]), echo: { seatId }, read: readSeat,
});

export const cancel = (seatId: string): Call<Seat> => ({
  method: 'POST', path: pathOf(['seats', seatId, 'cancel']), echo: { seatId }, read: readSeat,
});

export const match = (matchId: string): Call<Match> => ({
  method: 'GET', path: pathOf(['matches', matchId]), echo: { matchId }, read: readMatch,
});

export const decision = (matchId: string, sent: Json): Call<Match> => ({
  method: 'POST',
  path: pathOf(['test', 'matches', matchId, 'decide']),
  sent,
  echo: { matchId },
  read: readMatch,
});

export const results = (
  cursor: string | null = null, { since, waitSeconds = 0, limit }: ResultsOptions = {},
): Call<Page<Row>> => ({
  method: 'GET',
  path: pathOf(['results'], { cursor, since, limit, waitSeconds: waitSeconds || null }),
  heldMs: 1000 * waitSeconds,
  read: (sent, { tookMs }) => readPage('Row', 'results', sent, tookMs),
});

export const invoices = (options: InvoiceOptions, cursor: string | null): Call<Page<Invoice>> => ({
  method: 'GET',
  path: pathOf(['invoices'], {
    from: options.fromDay, to: options.toDay, status: options.status, cursor, limit: PAGE_MAX,
  }),
  read: (sent, { tookMs }) => readPage('Invoice', 'invoices', sent, tookMs),
});

export const invoice = (invoiceId: string): Call<Invoice> => ({
  method: 'GET',
  path: pathOf(['invoices', invoiceId]),
  echo: { invoiceId },
  read: (sent) => readRecord('Invoice', sent),
});

export const invoiceLines = (
  invoiceId: string, cursor: string | null,
): Call<Page<InvoiceLine>> => ({
  method: 'GET',
  path: pathOf(['invoices', invoiceId, 'lines'], { cursor, limit: PAGE_MAX }),
  read: (sent, { tookMs }) => readPage('InvoiceLine', 'lines', sent, tookMs),
});

export const lineMatches = (
  invoiceId: string, lineId: string, cursor: string | null,
): Call<Page<InvoicedMatch>> => ({
  method: 'GET',
  path: pathOf(['invoices', invoiceId, 'lines', lineId, 'matches'], { cursor, limit: PAGE_MAX }),
  read: (sent, { tookMs }) => readPage('InvoicedMatch', 'matches', sent, tookMs),
});

export const overDays = (
  what: readonly string[], fromDay: string, toDay: string,
): Call<Json> => ({
  method: 'GET', path: pathOf(what, { from: fromDay, to: toDay }), read: (sent) => sent,
});

export const theme = (): Call<Json> => ({
  method: 'GET', path: pathOf(['theme']), read: (sent) => sent,
});

export const writeTheme = (fields: Json): Call<Json> => ({
  method: 'PUT', path: pathOf(['theme']), sent: fields, read: (sent) => sent,
});
