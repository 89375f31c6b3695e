/** The failures of a call: one type for each status, and two for calls without a usable answer. */

import type { Json } from './records.js';

/** Any failure of a call. `mayPass` tells whether the same call may succeed later. */
export class PgsError extends Error {
  override name = 'PgsError';
  readonly mayPass: boolean;
  readonly retryAfterMs: number | null;

  constructor(message: string, mayPass: boolean, retryAfterMs: number | null, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.mayPass = mayPass;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * No whole answer came, so the call may have been carried out. `cause` says what happened.
 *
 * Repeat a seat with the same idempotency key: the player is charged once.
 */
export class NoAnswer extends PgsError {
  override name = 'NoAnswer';

  constructor(message: string, cause: unknown) {
    super(message, true, null, cause);
  }
}

/**
 * An answer came that the service does not give to this call: for example a redirect, a proxy's
 * page, or the answer to another call.
 */
export class UnexpectedAnswer extends PgsError {
  override name = 'UnexpectedAnswer';

  constructor(message: string, mayPass: boolean) {
    super(message, mayPass, null);
  }
}

/**
 * The service refused a call. Branch on the type, or on `reason`; `message` may be reworded.
 *
 * `fields` holds the JSON object of the answer. `reason` is null if the error has no code.
 * `requestId` names the call in the log of the service.
 */
export class ServiceError extends PgsError {
  override name = 'ServiceError';
  readonly status: number;
  readonly fields: Json;
  readonly reason: string | null;
  readonly requestId: string | null;

  constructor(
    status: number, fields: Json, requestId: string | null = null,
    retryAfterMs: number | null = null,
  ) {
    const reason = typeof fields['reason'] === 'string' ? fields['reason'] : null;
    const said = typeof fields['error'] === 'string' ? fields['error'] : '';
    const mayPass = status === 408 || status === 429 || status >= 500;
    super([status, reason, said].filter(Boolean).join(' '), mayPass, retryAfterMs);
    this.status = status;
    this.fields = fields;
    this.reason = reason;
    this.requestId = requestId;
  }
}

/** 400: the call itself is wrong; repeating it does not help. */
export class BadRequest extends ServiceError {
  override name = 'BadRequest';
}

/** 401: the key is not accepted. */
export class Unauthorized extends ServiceError {
  override name = 'Unauthorized';
}

/** 402: the stake was not paid. */
export class PaymentRequired extends ServiceError {
  override name = 'PaymentRequired';
}

/** 403: the account or the key may not do this. */
export class Forbidden extends ServiceError {
  override name = 'Forbidden';
}

/** 404: there is no such thing for this key. */
export class NotFound extends ServiceError {
  override name = 'NotFound';
}

/** 409: the call conflicts with the state of a seat, a match, a tier or an invoice. */
export class Conflict extends ServiceError {
  override name = 'Conflict';
}

/** 422: a value was understood but is not allowed. */
export class Unprocessable extends ServiceError {
  override name = 'Unprocessable';
}

/** 429: too many calls. `retryAfterMs` tells how long to wait. */
export class TooManyRequests extends ServiceError {
  override name = 'TooManyRequests';
}

/** 5xx: the service failed. The same call may succeed later. */
export class ServerFailure extends ServiceError {
  override name = 'ServerFailure';
}
