/** The client. It uses only `fetch`, so that it runs in Node and in edge runtimes. */

import * as calls from './calls.js';
import type {
  Call, InvoiceOptions, MintOptions, ResultsOptions, SeatOptions,
} from './calls.js';
import { InvalidCursor, PgsError } from './errors.js';
import type { FeedStore } from './feed.js';
import type {
  Account, Invoice, InvoicedMatch, InvoiceLine, Json, Match, Page, Readiness, Row, Seat, Session,
  Tier,
} from './records.js';
import { QUIET_MS, Sender, type ClientOptions } from './sender.js';

/** Seconds for which the service is asked to hold a call for the feed, of the 25 that it allows. */
export const WAIT_SECONDS = 20;

/** Returns a new name for a purchase. Store it with the purchase before the first call. */
export function newIdempotencyKey(): string {
  return crypto.randomUUID();
}

/**
 * Calls the service with one key. A call that fails throws `PgsError`. If the same call may succeed
 * later, it is repeated before the error is thrown.
 */
export class Client {
  readonly baseUrl: string;
  readonly environment: 'test' | 'live';
  readonly #sender: Sender;

  constructor(baseUrl: string, key: string, options: ClientOptions = {}) {
    this.#sender = new Sender(baseUrl, key, options);
    this.baseUrl = this.#sender.baseUrl;
    this.environment = this.#sender.environment;
  }

  /** Reads the account and the environment of the key. */
  me(): Promise<Account> {
    return this.send(calls.me());
  }

  /** Reads what a seat at a game costs and pays, for each tier on offer. */
  tiers(gameId: string): Promise<readonly Tier[]> {
    return this.send(calls.tiers(gameId));
  }

  /** Reads every gate between the account and a seat at a game. */
  readiness(gameId: string): Promise<Readiness> {
    return this.send(calls.readiness(gameId));
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

  /** Ends a test match with a winner, or as a draw for null. Needs a test key. */
  decide(matchId: string, winnerPlayerId: string | null): Promise<Match> {
    return this.send(calls.decision(matchId, { outcome: 'ended', winnerPlayerId }));
  }

  /** Ends a test match without a contest: both stakes go back. Needs a test key. */
  callOff(matchId: string): Promise<Match> {
    return this.send(calls.decision(matchId, { outcome: 'no_contest' }));
  }

  /**
   * Reads a page of the feed. `follow` and `catchUp` do this with a store. Without a cursor,
   * `since` (epoch seconds) begins at the first row that changed then or later.
   */
  results(cursor: string | null = null, options: ResultsOptions = {}): Promise<Page<Row>> {
    return this.send(calls.results(cursor, options));
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
   * If a call fails and may succeed later, this method calls the option `warn`, and tries again
   * after a pause. It throws every other failure. If you act on rows, take them from the store: if
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
        this.#sender.warn(`the feed cannot be read, trying again: ${error.message}`);
        const { retries, sleep } = this.#sender;
        await sleep(Math.max(retries.longestPauseMs, error.retryAfterMs ?? 0));
        continue;
      }
      if (page.items.length > 0) yield page.items;
      else if (!page.hasMore && page.tookMs < QUIET_MS) await this.#sender.sleep(QUIET_MS);
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

  /** Yields the matches that a line bills. */
  lineMatches(invoiceId: string, lineId: string): AsyncGenerator<InvoicedMatch> {
    return this.#entries((cursor) => calls.lineMatches(invoiceId, lineId, cursor));
  }

  /** Reads how many matches each final day has, and their money. Returns the JSON unchanged. */
  usage(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['usage'], fromDay, toDay));
  }

  /** Reads what became of the seats of some final days; the JSON is returned unchanged. */
  seatSummary(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['seat-summary'], fromDay, toDay));
  }

  /** Reads a hash of each final day's rows of the feed; the JSON is returned unchanged. */
  digest(fromDay: string, toDay: string): Promise<Json> {
    return this.send(calls.overDays(['results', 'digest'], fromDay, toDay));
  }

  /** Reads the theme of the frame; the JSON is returned unchanged. */
  theme(): Promise<Json> {
    return this.send(calls.theme());
  }

  /** Replaces the test theme of the frame. Omitted fields go back to their defaults. */
  writeTheme(fields: Json): Promise<Json> {
    return this.send(calls.writeTheme(fields));
  }

  /** Makes a call. Throws `PgsError` after the last try. */
  send<T>(call: Call<T>): Promise<T> {
    return this.#sender.send(call);
  }

  /** Returns the next page of the feed, after the store has taken its rows and its cursor. */
  async #readOn(store: FeedStore, waitSeconds: number): Promise<Page<Row>> {
    const cursor = await store.cursor();
    let page: Page<Row>;
    try {
      page = await this.send(calls.results(cursor, { waitSeconds }));
    } catch (error) {
      if (!(error instanceof InvalidCursor) || cursor === null) throw error;
      this.#sender.warn("the feed's cursor is not valid any more; reading from the beginning");
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
