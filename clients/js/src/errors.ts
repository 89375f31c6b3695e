/** The errors of the service: one type for each reason code, below the type of its status. */

import {
  BadRequest, Conflict, Forbidden, NotFound, PaymentRequired, ServerFailure, ServiceError,
  TooManyRequests, Unauthorized, Unprocessable,
} from './failures.js';
import { isObject, readRecord, type Json, type Seat } from './records.js';

export * from './failures.js';

/** The key is unknown, malformed or revoked. */
export class InvalidKey extends Unauthorized {
  static readonly code = 'invalid_key';
  override name = 'InvalidKey';
}

/** The account is switched off. */
export class PartnerInactive extends Forbidden {
  static readonly code = 'partner_inactive';
  override name = 'PartnerInactive';
}

/** The service no longer serves the version that this client speaks. */
export class UnsupportedApiVersion extends BadRequest {
  static readonly code = 'unsupported_api_version';
  override name = 'UnsupportedApiVersion';
}

/** A test key was used at a deployment that serves only live. */
export class TestKeyAgainstLive extends Forbidden {
  static readonly code = 'test_key_against_live';
  override name = 'TestKeyAgainstLive';
}

/** A live key was used at a deployment that serves only test. */
export class LiveKeyAgainstTest extends Forbidden {
  static readonly code = 'live_key_against_test';
  override name = 'LiveKeyAgainstTest';
}

/** The call works with a test key only. */
export class TestKeyRequired extends Forbidden {
  static readonly code = 'test_key_required';
  override name = 'TestKeyRequired';
}

/** The account may not use the game. */
export class GameNotLicensed extends Forbidden {
  static readonly code = 'game_not_licensed';
  override name = 'GameNotLicensed';
}

/** The account may use the game in the other environment only. */
export class GameNotLicensedInThisEnvironment extends Forbidden {
  static readonly code = 'game_not_licensed_in_this_environment';
  override name = 'GameNotLicensedInThisEnvironment';
}

/** The player id has characters or a length that are not allowed. */
export class MalformedPlayerId extends BadRequest {
  static readonly code = 'malformed_player_id';
  override name = 'MalformedPlayerId';
}

/** The account, or the service as a whole, gets too many calls at the moment. */
export class RateLimited extends TooManyRequests {
  static readonly code = 'rate_limited';
  override name = 'RateLimited';
}

/** The service cannot read its own data. */
export class RegistryUnavailable extends ServerFailure {
  static readonly code = 'registry_unavailable';
  override name = 'RegistryUnavailable';
}

/** Settlement gave no answer, or the service cannot read its own data. A seat may exist. */
export class SettlementUnavailable extends ServerFailure {
  static readonly code = 'settlement_unavailable';
  override name = 'SettlementUnavailable';
}

/** There is no such tier in this environment. */
export class UnknownTier extends BadRequest {
  static readonly code = 'unknown_tier';
  override name = 'UnknownTier';
}

/** The tier is not offered for the game. */
export class TierLocked extends Conflict {
  static readonly code = 'tier_locked';
  override name = 'TierLocked';
}

/** No rake terms are agreed: an admin of the account has to agree to them. */
export class RakeTermsNotAgreed extends Forbidden {
  static readonly code = 'rake_terms_not_agreed';
  override name = 'RakeTermsNotAgreed';
}

/** The stake is lower than `fields.floorUsdCents`. */
export class StakeBelowFloor extends BadRequest {
  static readonly code = 'stake_below_floor';
  override name = 'StakeBelowFloor';
}

/** The stake is higher than `fields.ceilingUsdCents`. */
export class StakeAbovePrize extends BadRequest {
  static readonly code = 'stake_above_prize';
  override name = 'StakeAbovePrize';
}

/** The stake is not `fields.expectedUsdCents`, the price that the account has set. */
export class StakeDoesNotMatchPrice extends BadRequest {
  static readonly code = 'stake_does_not_match_price';
  override name = 'StakeDoesNotMatchPrice';
}

/** The idempotency key belongs to another purchase. */
export class IdempotencyKeyConflict extends Conflict {
  static readonly code = 'idempotency_key_conflict';
  override name = 'IdempotencyKeyConflict';
}

/** The stake was declined, and nobody was charged. */
export class StakeDeclined extends PaymentRequired {
  static readonly code = 'stake_declined';
  override name = 'StakeDeclined';

  /** The declined seat. */
  get seat(): Seat {
    return { ...readRecord<Seat>('Seat', this.fields), replayed: false };
  }
}

/** There is no such seat in this environment. */
export class SeatNotFound extends NotFound {
  static readonly code = 'seat_not_found';
  override name = 'SeatNotFound';
}

/** The seat does not wait for an opponent. `fields.status` is its status. */
export class SeatNotWaiting extends Conflict {
  static readonly code = 'seat_not_waiting';
  override name = 'SeatNotWaiting';
}

/** There is no such match in this environment. */
export class MatchNotFound extends NotFound {
  static readonly code = 'match_not_found';
  override name = 'MatchNotFound';
}

/** The match has ended with another result. */
export class MatchAlreadyDecided extends Conflict {
  static readonly code = 'match_already_decided';
  override name = 'MatchAlreadyDecided';
}

/** The cursor was not issued to this account in this environment, or is ahead of the feed. */
export class InvalidCursor extends BadRequest {
  static readonly code = 'invalid_cursor';
  override name = 'InvalidCursor';
}

/** The query parameter `fields.parameter` is missing. */
export class MissingParameter extends BadRequest {
  static readonly code = 'missing_parameter';
  override name = 'MissingParameter';
}

/** A day is not a real date, written yyyymmdd. */
export class MalformedDay extends BadRequest {
  static readonly code = 'malformed_day';
  override name = 'MalformedDay';
}

/** The range ends before it starts. */
export class RangeBackwards extends BadRequest {
  static readonly code = 'range_backwards';
  override name = 'RangeBackwards';
}

/** The range has more than `fields.maxRangeDays` days. */
export class RangeTooWide extends BadRequest {
  static readonly code = 'range_too_wide';
  override name = 'RangeTooWide';
}

/** The range covers too many seats, or rows of the feed, for one call. */
export class RangeTooExpensive extends BadRequest {
  static readonly code = 'range_too_expensive';
  override name = 'RangeTooExpensive';
}

/**
 * The range ends after `fields.latestDay`, the newest final day. The figures of a final day never
 * change. Those of later days still may.
 */
export class DayNotFinal extends BadRequest {
  static readonly code = 'day_not_final';
  override name = 'DayNotFinal';
}

/** There is no such invoice in this environment. */
export class InvoiceNotFound extends NotFound {
  static readonly code = 'invoice_not_found';
  override name = 'InvoiceNotFound';
}

/** The filter names no status of an invoice. */
export class InvoiceStatusInvalid extends BadRequest {
  static readonly code = 'invoice_status_invalid';
  override name = 'InvoiceStatusInvalid';
}

/** The invoice is a draft, so its total is not known yet. */
export class InvoiceNotReadable extends Conflict {
  static readonly code = 'invoice_not_readable';
  override name = 'InvoiceNotReadable';
}

/** A live key cannot write a theme. `fields.changeItAt` tells where a person can. */
export class LiveThemeNotWritable extends Forbidden {
  static readonly code = 'live_theme_not_writable';
  override name = 'LiveThemeNotWritable';
}

/** The theme's field `fields.parameter` has a value that is not allowed. */
export class ThemeFieldInvalid extends Unprocessable {
  static readonly code = 'theme_field_invalid';
  override name = 'ThemeFieldInvalid';
}

/** The logo is neither a PNG nor a WebP. */
export class LogoUnsupportedType extends Unprocessable {
  static readonly code = 'logo_unsupported_type';
  override name = 'LogoUnsupportedType';
}

/** The logo is not valid base64. */
export class LogoMalformed extends Unprocessable {
  static readonly code = 'logo_malformed';
  override name = 'LogoMalformed';
}

/** The logo has more than `fields.maxBytes` bytes. */
export class LogoTooLarge extends Unprocessable {
  static readonly code = 'logo_too_large';
  override name = 'LogoTooLarge';
}

/** The logo is not an image of the type that it claims. */
export class LogoNotThatImage extends Unprocessable {
  static readonly code = 'logo_not_that_image';
  override name = 'LogoNotThatImage';
}

type Kind = new (
  status: number, fields: Json, requestId?: string | null, retryAfterMs?: number | null,
) => ServiceError;

const BY_STATUS: Readonly<Record<number, Kind>> = {
  400: BadRequest, 401: Unauthorized, 402: PaymentRequired, 403: Forbidden, 404: NotFound,
  409: Conflict, 422: Unprocessable, 429: TooManyRequests,
};

const CODED = [
  InvalidKey, PartnerInactive, UnsupportedApiVersion, TestKeyAgainstLive, LiveKeyAgainstTest,
  TestKeyRequired, GameNotLicensed, GameNotLicensedInThisEnvironment, MalformedPlayerId,
  RateLimited, RegistryUnavailable, SettlementUnavailable, UnknownTier, TierLocked,
  RakeTermsNotAgreed, StakeBelowFloor, StakeAbovePrize, StakeDoesNotMatchPrice,
  IdempotencyKeyConflict, StakeDeclined, SeatNotFound, SeatNotWaiting, MatchNotFound,
  MatchAlreadyDecided, InvalidCursor, MissingParameter, MalformedDay, RangeBackwards,
  RangeTooWide, RangeTooExpensive, DayNotFinal, InvoiceNotFound, InvoiceStatusInvalid,
  InvoiceNotReadable, LiveThemeNotWritable, ThemeFieldInvalid, LogoUnsupportedType, LogoMalformed,
  LogoTooLarge, LogoNotThatImage,
] as const;

/** The type of each reason code that this release knows. */
export const BY_CODE: ReadonlyMap<string, Kind> = new Map<string, Kind>(
  CODED.map((kind) => [kind.code, kind]),
);

/** Returns the error of an answer: by its code, or for an unknown code by its status. */
export function serviceError(
  status: number, sent: unknown, requestId: string | null = null,
  retryAfterMs: number | null = null,
): ServiceError {
  const fields = isObject(sent) ? sent : {};
  const general = status >= 500 ? ServerFailure : (BY_STATUS[status] ?? ServiceError);
  const coded = typeof fields['reason'] === 'string' ? BY_CODE.get(fields['reason']) : undefined;
  const fitting = coded !== undefined && coded.prototype instanceof general ? coded : general;
  return new fitting(status, fields, requestId, retryAfterMs);
}
