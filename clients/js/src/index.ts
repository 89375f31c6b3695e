/** A client of the Partner Game Service for partners' backends, in Node and edge runtimes. */

export { Client, newIdempotencyKey, WAIT_SECONDS } from './client.js';
export {
  API_VERSION, RETRIES, TIMEOUTS, type ClientOptions, type Retries, type Timeouts,
} from './sender.js';
export type { InvoiceOptions, MintOptions, ResultsOptions, SeatOptions } from './calls.js';
export * from './errors.js';
export { MemoryStore, type FeedStore } from './feed.js';
export type {
  Account, Gate, Invoice, InvoicedMatch, InvoiceLine, Json, Match, MatchSeat, Page, Readiness, Row,
  Seat, Session, Tier, Webhook,
} from './records.js';
export {
  InvalidSignature, SIGNATURE_HEADER, TOLERANCE_SECONDS, verifyWebhook, type Nudge,
} from './webhooks.js';
