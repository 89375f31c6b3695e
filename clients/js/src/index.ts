/** A client of the Partner Game Service for partners' backends, in Node and edge runtimes. */

export {
  API_VERSION, Client, newIdempotencyKey, RETRIES, TIMEOUTS, WAIT_SECONDS,
  type ClientOptions, type Retries, type Timeouts,
} from './client.js';
export type { InvoiceOptions, MintOptions, SeatOptions } from './calls.js';
export * from './errors.js';
export { MemoryStore, type FeedStore } from './feed.js';
export type {
  Account, Invoice, InvoicedMatch, InvoiceLine, Json, Match, MatchSeat, Page, Row, Seat, Session,
  Tier, Webhook,
} from './records.js';
export {
  InvalidSignature, SIGNATURE_HEADER, TOLERANCE_SECONDS, verifyWebhook, type Nudge,
} from './webhooks.js';
