/** The client. It uses `fetch` alone, so that it runs in Node and in edge runtimes. */

import * as calls from './calls.js';
import type { Answer, Call, InvoiceOptions, MintOptions, SeatOptions } from './calls.js';
import { InvalidCursor, NoAnswer, PgsError, serviceError, UnexpectedAnswer } from './errors.js';
import type { FeedStore } from './feed.js';
import {
  isObject, Unreadable, type Account, type Invoice, type InvoicedMatch, type InvoiceLine,
  type Json, type Match, type Page, type Row, type Seat, type Session, type Tier,
} from './records.js';

/** The version of the interface that this client speaks. It is sent with every call. */
export const API_VERSION = 1;

/** Seconds for which the service is asked to hold a call for the feed, of the 25 that it allows. */
export const WAIT_SECONDS = 20;

const USER_AGENT = 'pgs-client-js/0.1.0';
const KEY = /^pgs_(test|live)_[0-9A-Za-z]{46}$/;

/**
 * Milliseconds between two empty pages, since the service may answer a held call at once, and after
 * a 429 that does not say how long to wait.
 */
const QUIET_MS = 1000;

/**
 * Milliseconds that a call may take. `answerMs` exceeds the 10 seconds for which the service waits
 * for its settlement. A call that is held for the feed may take `heldMarginMs` longer than that.
 */
export interface Timeouts {
  readonly answerMs: number;
  readonly heldMarginMs: number;
}

/**
 * How often a call is made, and the pauses between the tries. The pause doubles with each try up to
 * `longestPauseMs`, and half of it is drawn at random. It is never shorter than the Retry-After of
 * an answer. An answer that asks for more than `longestRetryAfterMs` is thrown at once.
 */
export interface Retries {
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly longestRetryAfterMs: number;
}

export const TIMEOUTS: Timeouts = { answerMs: 15_000, heldMarginMs: 15_000 };

export const RETRIES: Retries = {
  tries: 6, firstPauseMs: 500, longestPauseMs: 8000, longestRetryAfterMs: 60_000,
};

/** `fetch`, `sleep` and `random` replace the platform's, for tests. */
export interface ClientOptions {
  timeouts?: Partial<Timeouts>;
  retries?: Partial<Retries>;
  plainHttp?: boolean;
  warn?: (message: string) => void;
  fetch?: typeof fetch;
  sleep?: (ms: number) => Promise<void>;
  random?: () => number;
}

/** Returns a new name for a purchase. Store it with the purchase before the first call. */
export function newIdempotencyKey(): string {
  return crypto.randomUUID();
}

/** Returns the pause after a number of tries. `chance`: a random number from 0 to 1. */
export function pauseMs(
  retries: Retries, tried: number, retryAfterMs: number | null, chance: number,
): number {
  const doubled = retries.firstPauseMs * 2 ** Math.min(tried - 1, 30);
  const jittered = Math.min(retries.longestPauseMs, doubled) * (0.5 + chance / 2);
  if (retryAfterMs === null) return jittered;
  // Clients that were all refused together must not all come back together.
  return Math.max(jittered, retryAfterMs + retries.firstPauseMs * chance);
}

/**
 * Calls the service with one key. Every call throws `PgsError`. A call that fails for a reason that
 * may pass is repeated.
 */
export class Client {
  readonly baseUrl: string;
  readonly environment: 'test' | 'live';
  readonly #key: string;
  readonly #timeouts: Timeouts;
  readonly #retries: Retries;
  readonly #fetch: typeof fetch;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #random: () => number;
  readonly #warn: (message: string) => void;

  constructor(baseUrl: string, key: string, options: ClientOptions = {}) {
    const { protocol, hostname, search, hash } = new URL(baseUrl);
    const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
    if ((protocol !== 'https:' && protocol !== 'http:') || search || hash) {
      throw new TypeError('baseUrl must be an https address without a query');
    }
    if (protocol === 'http:' && !loopback && !options.plainHttp) {
      throw new TypeError('baseUrl must be https: plain http would show the key to others');
    }
    if (!KEY.test(key)) {
      throw new TypeError('the key must be pgs_test_ or pgs_live_ and 46 letters or digits');
    }
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.environment = key.startsWith('pgs_test_') ? 'test' : 'live';
    this.#key = key;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#retries = { ...RETRIES, ...options.retries };
    if (this.#retries.tries < 1) throw new TypeError('retries.tries must be at least 1');
    this.#fetch = options.fetch ?? ((address, init) => fetch(address, init));
    this.#sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    this.#random = options.random ?? Math.random;
    this.#warn = options.warn ?? ((message) => console.warn(`pgs-client: ${message}`));
  }

  /** Reads the account and the environment of the key. */
  me(): Promise<Account> {
    return this.send(calls.me());
  }

  /** Reads what a seat at a game costs and pays, for each tier on offer. */
  tiers(gameId: string): Promise<readonly Tier[]> {
    return this.send(calls.tiers(gameId));
  }

  /** Gets a session for a player's frame. It seats nobody and costs nothing. */
  mint(options: MintOptions): Promise<Session> {
    return this.send(calls.mint(options));
  }

  /**
   * Takes a paid seat, once for each idempotency key. Throws `StakeDeclined` among others.
   *
   * Store the key with the purchase before you call. After `NoAnswer` or `ServerFailure` the seat
   * may exist: call again with the same key. A seat that is still `pending` after all tries is
   * returned as it is; call again later.
   */
  seat(options: SeatOptions): Promise<Seat> {
    return this.send(calls.seat(options));
  }

  /** Reads a seat as it is now. */
  readSeat(seatId: string): Promise<Seat> {
    return this.send(calls.seatNow(seatId));
  }

  /** Takes a waiting seat back; its stake is refunded. Throws `SeatNotWaiting`. */
  cancel(seatId: string): Promise<Seat> {
    return this.send(calls.cancel(seatId));
  }

  /** Reads a match as it is now. */
  match(matchId: string): Promise<Match> {
    return this.send(calls.match(matchId));
  }

  /** Ends a test match with a winner, or drawn for null. Needs a test key. */
  decide(matchId: string, winnerPlayerId: string | null): Promise<Match> {
    return this.send(calls.decision(matchId, { outcome: 'ended', winnerPlayerId }));
  }

  /** Ends a test match without a contest: both stakes go back. Needs a test key. */
  callOff(matchId: string): Promise<Match> {
    return this.send(calls.decision(matchId, { outcome: 'no_contest' }));
  }

  /** Reads a page of the feed. `follow` and `catchUp` do this with a store. */
  results(
    cursor: string | null = null, options: { waitSeconds?: number; limit?: number } = {},
  ): Promise<Page<Row>> {
    return this.send(calls.results(cursor, options.waitSeconds, options.limit));
  }

  /** Reads the feed to its end into a store; returns how many rows were read. */
  async catchUp(store: FeedStore): Promise<number> {
    for (let read = 0; ; ) {
      const page = await this.#readOn(store, 0);
      read += page.items.length;
      if (!page.hasMore) return read;
    }
  }

  /**
   * Yields rows as they appear, after the store has taken them, until the caller stops.
   *
   * Failures that may pass are told to `warn` and waited out. Act on rows that are in the store: if
   * your program ends before it has handled a yielded row, the row is not yielded again.
   */
  async *follow(
    store: FeedStore, options: { waitSeconds?: number } = {},
  ): AsyncGenerator<readonly Row[], never, void> {
    for (;;) {
      let page: Page<Row>;
      try {
        page = await this.#readOn(store, options.waitSeconds ?? WAIT_SECONDS);
      } catch (error) {
        if (!(error instanceof PgsError) || !error.mayPass) throw error;
        this.#warn(`the feed cannot be read, trying again: ${error.message}`);
        await this.#sleep(Math.max(this.#retries.longestPauseMs, error.retryAfterMs ?? 0));
        continue;
      }
      if (page.items.length > 0) yield page.items;
      else if (!page.hasMore && page.tookMs < QUIET_MS) await this.#sleep(QUIET_MS);
    }
  }

  /** Yields the invoices, the newest first. Days are written yyyymmdd. */
  invoices(options: InvoiceOptions = {}): AsyncGenerator<Invoice> {
    return this.#entries((cursor) => calls.invoices(options, cursor));
  }

  /** Reads an invoice. */
  invoice(invoiceId: string): Promise<Invoice> {
    return this.send(calls.invoice(invoiceId));
  }

  /** Yields the lines of an invoice. */
  invoiceLines(invoiceId: string): AsyncGenerator<InvoiceLine> {
    return this.#entries((cursor) => calls.invoiceLines(invoiceId, cursor));
  }

  /** Yields the matches behind a line. */
  lineMatches(invoiceId: string, lineId: string): AsyncGenerator<InvoicedMatch> {
    return this.#entries((cursor) => calls.lineMatches(invoiceId, lineId, cursor));
  }

  /** Reads what each final day's matches came to, as it is sent. */
  usage(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['usage'], fromDay, toDay));
  }

  /** Reads what became of the seats of some final days, as it is sent. */
  seatSummary(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['seat-summary'], fromDay, toDay));
  }

  /** Reads a hash of each final day's rows of the feed, as it is sent. */
  digest(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['results', 'digest'], fromDay, toDay));
  }

  /** Reads the theme of the frame, as it is sent. */
  theme(): Promise<Json> {
    return this.send(calls.theme());
  }

  /** Replaces the test theme of the frame. Omitted fields go back to their defaults. */
  writeTheme(fields: Json): Promise<Json> {
    return this.send(calls.writeTheme(fields));
  }

  /** Makes a call. Throws `PgsError` after the last try. */
  async send<T>(call: Call<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const last = tried >= this.#retries.tries;
      let retryAfterMs: number | null = null;
      try {
        const read = judge(call, await this.#exchange(call));
        if (last || (call.isSettled?.(read) ?? true)) return read;
      } catch (error) {
        if (!(error instanceof PgsError)) throw error;
        retryAfterMs = error.retryAfterMs;
        const tooLong = (retryAfterMs ?? 0) > this.#retries.longestRetryAfterMs;
        if (last || tooLong || !error.mayPass) throw error;
      }
      await this.#sleep(pauseMs(this.#retries, tried, retryAfterMs, this.#random()));
    }
  }

  async #exchange<T>(call: Call<T>): Promise<Answer> {
    const { answerMs, heldMarginMs } = this.#timeouts;
    const limit = call.heldMs ? call.heldMs + heldMarginMs : answerMs;
    const headers: Record<string, string> = {
      Accept: 'application/json',
      Authorization: `Bearer ${this.#key}`,
      'User-Agent': USER_AGENT,
      'X-Service-Api-Version': String(API_VERSION),
    };
    if (call.sent !== undefined) headers['Content-Type'] = 'application/json';
    const began = performance.now();
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(this.baseUrl + call.path, {
        method: call.method,
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(limit),
        ...(call.sent === undefined ? {} : { body: JSON.stringify(call.sent) }),
      });
      text = await response.text();
    } catch (error) {
      throw new NoAnswer(`no answer to ${call.method} ${call.path}: ${nameOfCause(error)}`, error);
    }
    const tookMs = performance.now() - began;
    return { status: response.status, headers: response.headers, body: decoded(text), tookMs };
  }

  /** Returns the next page of the feed, after the store has taken its rows and its cursor. */
  async #readOn(store: FeedStore, waitSeconds: number): Promise<Page<Row>> {
    const cursor = await store.cursor();
    let page: Page<Row>;
    try {
      page = await this.send(calls.results(cursor, waitSeconds));
    } catch (error) {
      if (!(error instanceof InvalidCursor) || cursor === null) throw error;
      this.#warn("the feed's cursor is not valid any more; reading from the beginning");
      page = await this.send(calls.results(null));
    }
    if (page.nextCursor !== null && (page.items.length > 0 || page.nextCursor !== cursor)) {
      await store.save(page.items, page.nextCursor);
    }
    return page;
  }

  async *#entries<T>(pageAfter: (cursor: string | null) => Call<Page<T>>): AsyncGenerator<T> {
    let cursor: string | null = null;
    do {
      const page: Page<T> = await this.send(pageAfter(cursor));
      yield* page.items;
      cursor = page.hasMore ? page.nextCursor : null;
    } while (cursor !== null);
  }
}

function judge<T>(call: Call<T>, answer: Answer): T {
  const { status, headers, body } = answer;
  if (status >= 400) {
    const retryAfterMs = retryAfter(headers) ?? (status === 429 ? QUIET_MS : null);
    throw serviceError(status, body, headers.get('X-Request-Id'), retryAfterMs);
  }
  const what = `${call.method} ${call.path}`;
  if (status !== 200 || !isObject(body)) {
    const said = `${what} was answered with ${status} and no JSON object`;
    throw new UnexpectedAnswer(said, status === 200);
  }
  const strange = Object.entries(call.echo ?? {}).filter(([name, value]) => body[name] !== value);
  if (strange.length > 0) {
    const names = strange.map(([name]) => name).join(', ');
    throw new UnexpectedAnswer(`the answer to ${what} belongs to another call: ${names}`, true);
  }
  try {
    return call.read(body, answer);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new UnexpectedAnswer(`the answer to ${what} cannot be read: ${error.message}`, true);
  }
}

function retryAfter(headers: Headers): number | null {
  const said = headers.get('Retry-After') ?? '';
  return /^[0-9]{1,9}$/.test(said) ? 1000 * Number(said) : null;
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function nameOfCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.name : String(cause);
}
