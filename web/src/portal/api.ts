/**
 * The admin API. A write carries the revision of what was read. If a write is refused because a
 * code or a sign-in is needed, or because somebody else has changed the account, the person is
 * asked where that is necessary. Then the write is sent again.
 */

import type { SignIn } from './sign-in';

export type Environment = 'test' | 'live';
export type Role = 'admin' | 'developer' | 'viewer';

/** What is open in an environment. */
export interface OpenPlay {
  waitingSeats: number;
  runningMatches: number;
}

/** The account as the caller sees it. Times are in epoch seconds. */
export interface Account {
  partnerId: string;
  name: string;
  active: boolean;
  role: Role;
  uid: string;
  email: string;
  revision: number;
  pins: Record<Environment, number>;
  stepUp: {
    enrolled: boolean;
    until?: number;
    freshUntil?: number;
    lockedUntil?: number;
    needsReset?: boolean;
    triesLeft?: number;
  };
  rakeTerms: { offeredVersion?: number; agreedVersion?: number; agreedAt?: number };
  open: Record<Environment, OpenPlay>;
  adminDomain?: string;
}

/** No answer came. */
export class Unreachable extends Error {
  constructor() {
    super('The service did not answer. Look at your connection.');
  }
}

/** An answer that is no 2xx. `reason` is empty where the API gives none. */
export class Refused extends Error {
  readonly status: number;
  readonly reason: string;
  readonly requestId: string;
  /** The answer's JSON object. */
  readonly told: Readonly<Record<string, unknown>>;

  constructor(status: number, told: Record<string, unknown>, requestId: string) {
    super(typeof told.error === 'string' ? told.error : `The service answered ${status}.`);
    this.status = status;
    this.reason = typeof told.reason === 'string' ? told.reason : '';
    this.requestId = requestId;
    this.told = told;
  }
}

/** The person has answered a question of a write with No. Nothing has failed. */
export class Cancelled extends Error {}

/** Two versions of one thing: as somebody else has saved it, and as it is to be written. */
export interface Versus {
  what: string;
  theirs: string;
  yours: string;
}

/** How a write is combined with what somebody else has saved meanwhile. */
export interface Merge {
  /** Reads again; returns what both people have changed. If that is nothing, nobody is asked. */
  compare(): Promise<Versus[]>;
  /** The body to send after `compare`. It includes the changes that the other person has saved. */
  body(): object;
}

/** What a write asks and tells the person. Each question returns whether to go on. */
export interface Questions {
  /** Asks for a code, which opens the step-up window. `what` names the act, `refused` says why. */
  stepUp(what: string, refused: Refused): Promise<boolean>;
  signInAgain(): Promise<boolean>;
  /** Somebody else has changed the account. `versus`: what both people have changed, if known. */
  goOnDespiteChange(what: string, versus: Versus[] | null): Promise<boolean>;
  /** A write has succeeded. It kept a change by somebody else, and no question was necessary. */
  tellMerged(): void;
}

/** How many times a page is read, at most, while the account changes. */
const TRIES_MAX = 5;
/** How many answers' revisions are kept: more than a page reads at the same time. */
const ANSWERS_KEPT = 100;

const STEP_UP = new Set(['step_up_required', 'fresh_step_up_required', 'totp_not_enrolled']);

export class Api {
  readonly #signIn: SignIn;
  #questions: Questions | null = null;
  #revision: number | null = null;
  #listeners = new Set<(account: Account) => void>();
  #newest = 1;
  #reading: Promise<Account> | null = null;
  #renewing: Promise<boolean> | null = null;
  /** How many calls have begun. */
  #began = 0;
  /** For each of the newest answers: the number of its call, and its revision. */
  #answered: { began: number; revision: number }[] = [];

  constructor(signIn: SignIn) {
    this.#signIn = signIn;
  }

  ask(questions: Questions): void {
    this.#questions = questions;
  }

  /** The newest version of the API that the service has named in an answer. */
  get newest(): number {
    return this.#newest;
  }

  /** Calls `listener` with the account each time it is read. Returns what ends the calls. */
  watch(listener: (account: Account) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the account. Calls made meanwhile share the read; later writes carry its revision. */
  account(): Promise<Account> {
    this.#reading ??= this.#account().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #account(): Promise<Account> {
    const account = await this.read<Account>('account');
    // A later read may have been answered first. The revision never goes down.
    if (this.#revision !== null && account.revision < this.#revision) return account;
    this.#revision = account.revision;
    for (const listener of this.#listeners) listener(account);
    return account;
  }

  /**
   * Reads with `read`, and the account at the same time. The result is at least as new as the
   * revision that later writes carry: if the account has changed meanwhile, it reads again.
   */
  async together<T>(read: () => Promise<T>): Promise<T> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const before = this.#began;
      const [found] = await Promise.all([read(), this.account()]);
      const since = this.#answered.filter(({ began }) => began > before);
      if (since.every(({ revision }) => revision >= this.#revision!)) return found;
    }
    throw new Error('The account changes all the time. Try again later.');
  }

  read<T>(path: string): Promise<T> {
    return this.#again<T>(() => this.#send('GET', path));
  }

  /**
   * Sends a write. `what` names it in the questions. `merge`: for a body that replaces what others
   * may have changed. Rejects with `Refused`, and with `Cancelled` if the person does not go on.
   */
  async write<T>(
    what: string,
    method: string,
    path: string,
    body?: object,
    merge?: Merge,
  ): Promise<T> {
    let sent = body;
    let merged = false;
    for (;;) {
      try {
        const answer = await this.#again<T>(() => this.#send(method, path, sent, this.#revision));
        if (merged) this.#questions?.tellMerged();
        // If this fails, the next write finds a change and asks.
        await this.#account().catch(() => null);
        return answer;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const unasked = await this.#beforeAgain(what, error, merge);
        if (error.reason === 'partner_changed') merged = unasked;
        if (merge !== undefined) sent = merge.body();
      }
    }
  }

  /** Opens a stream of an environment. The caller reads its body. Rejects with `Refused`. */
  stream(path: string, signal: AbortSignal): Promise<Response> {
    return this.#again(async () => {
      const headers = { Authorization: `Bearer ${this.#signIn.token}` };
      const reply = await fetch(`/partner/admin/${path}`, { headers, signal });
      if (reply.ok) return reply;
      const told = await reply.json().catch(() => ({}));
      throw new Refused(reply.status, told, reply.headers.get('X-Request-Id') ?? '');
    });
  }

  /** Accepts an invite. The caller may belong to no account yet. */
  accept(inviteId: string): Promise<unknown> {
    const path = `invites/${encodeURIComponent(inviteId)}/accept`;
    return this.#again(() => this.#send('POST', path));
  }

  /** Sends a code or enrols a factor; neither changes the account. */
  factor<T>(path: 'totp/verify' | 'totp/enroll', body: object): Promise<T> {
    return this.#again<T>(() => this.#send('POST', path, body));
  }

  /**
   * Asks the person what a refusal requires. Returns whether no question was necessary. Rejects
   * unless the write may be sent again.
   */
  async #beforeAgain(what: string, refused: Refused, merge?: Merge): Promise<boolean> {
    const questions = this.#questions;
    if (questions === null) throw refused;
    if (STEP_UP.has(refused.reason)) {
      if (!(await questions.stepUp(what, refused))) throw new Cancelled();
    } else if (refused.reason !== 'partner_changed') {
      throw refused;
    } else if (merge === undefined) {
      const goesOn = await questions.goOnDespiteChange(what, null);
      await this.#account();
      if (!goesOn) throw new Cancelled();
    } else {
      await this.#account();
      const versus = await merge.compare();
      if (versus.length === 0) return true;
      if (!(await questions.goOnDespiteChange(what, versus))) throw new Cancelled();
    }
    return false;
  }

  /** Sends a call, and once more after a new sign-in if the token was refused. */
  async #again<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refused) || error.reason !== 'sign_in_required') throw error;
      if (!(await this.#signInAgain())) throw error;
      return send();
    }
  }

  /** Renews the sign-in, once for all calls that were refused meanwhile. */
  #signInAgain(): Promise<boolean> {
    const again = async () =>
      (await this.#signIn.renew()) || ((await this.#questions?.signInAgain()) ?? false);
    this.#renewing ??= again().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #send<T>(
    method: string,
    path: string,
    body?: object,
    revision: number | null = null,
  ): Promise<T> {
    this.#began += 1;
    const began = this.#began;
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#signIn.token}` };
    if (revision !== null) headers['If-Match'] = String(revision);
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const reply = await fetch(`/partner/admin/${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    }).catch(() => {
      throw new Unreachable();
    });
    const seen = reply.headers.get('Account-Revision');
    if (seen !== null) this.#answered.push({ began, revision: Number(seen) });
    this.#answered = this.#answered.slice(-ANSWERS_KEPT);
    this.#newest = Number(reply.headers.get('X-Service-Api-Version') ?? this.#newest);
    const told = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Refused(reply.status, told, reply.headers.get('X-Request-Id') ?? '');
    return told as T;
  }
}
