/** How one call is made: its headers, its tries, and what its answer means. */

import type { Answer, Call } from './calls.js';
import { NoAnswer, PgsError, serviceError, UnexpectedAnswer } from './errors.js';
import { isObject, Unreadable } from './records.js';

/** The version of the interface that this client speaks. It is sent with every call. */
export const API_VERSION = 1;

const USER_AGENT = 'pgs-client-js/0.1.0';
const KEY = /^pgs_(test|live)_[0-9A-Za-z]{46}$/;

/**
 * Milliseconds to wait after a 429 that does not say how long to wait. `follow` also waits this
 * long after an empty page that came sooner than this: the service has not held the call, and
 * `follow` must not call it again and again without a pause.
 */
export const QUIET_MS = 1000;

/**
 * Milliseconds that one try of a call may take. The default of `answerMs` exceeds the 10 seconds
 * for which the service waits for its settlement. `answerMs` does not apply to a call that the
 * service is asked to hold until the feed has news: one try of such a call may take the time for
 * which the call is to be held, and `heldMarginMs` more.
 */
export interface Timeouts {
  readonly answerMs: number;
  readonly heldMarginMs: number;
}

/**
 * How often a call is made, and the pauses between the tries. The pause doubles with each try up to
 * `longestPauseMs`, and half of it is drawn at random. It is never shorter than the Retry-After of
 * an answer. An answer that asks for more than `longestRetryAfterMs` is thrown without another try.
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

/** Makes calls with one key, and repeats each as long as that may help. */
export class Sender {
  readonly baseUrl: string;
  readonly environment: 'test' | 'live';
  readonly #key: string;
  readonly #timeouts: Timeouts;
  readonly retries: Retries;
  readonly #fetch: typeof fetch;
  readonly sleep: (ms: number) => Promise<void>;
  readonly #random: () => number;
  readonly warn: (message: string) => void;

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
    this.retries = { ...RETRIES, ...options.retries };
    if (this.retries.tries < 1) throw new TypeError('retries.tries must be at least 1');
    this.#fetch = options.fetch ?? ((address, init) => fetch(address, init));
    this.sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    this.#random = options.random ?? Math.random;
    this.warn = options.warn ?? ((message) => console.warn(`pgs-client: ${message}`));
  }

  /** Makes a call. Throws `PgsError` after the last try. */
  async send<T>(call: Call<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const last = tried >= this.retries.tries;
      let retryAfterMs: number | null = null;
      try {
        const read = judge(call, await this.#exchange(call));
        if (last || (call.isSettled?.(read) ?? true)) return read;
      } catch (error) {
        if (!(error instanceof PgsError)) throw error;
        retryAfterMs = error.retryAfterMs;
        const tooLong = (retryAfterMs ?? 0) > this.retries.longestRetryAfterMs;
        if (last || tooLong || !error.mayPass) throw error;
      }
      await this.sleep(pauseMs(this.retries, tried, retryAfterMs, this.#random()));
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
