/**
 * The admin API. A write carries the revision of what was read. One that is refused for want of a
 * code, of a sign-in, or because somebody else has written, asks and is then sent again.
 */

import type { SignIn } from './sign-in';

export type Environment = 'test' | 'live';
export type Role = 'admin' | 'developer' | 'viewer';

export interface Account {
  partnerId: string;
  name: string;
  active: boolean;
  role: Role;
  email: string;
  revision: number;
}

/** An answer that is no 200. `reason` is empty where the API gives none. */
export class Refused extends Error {
  readonly status: number;
  readonly reason: string;
  readonly requestId: string;

  constructor(status: number, told: { error?: string; reason?: string }, requestId: string) {
    super(told.error ?? `The service answered ${status}.`);
    this.status = status;
    this.reason = told.reason ?? '';
    this.requestId = requestId;
  }
}

/** What a write asks of the person. Each returns whether to go on. */
export interface Questions {
  /** A code opens the step-up window. `what` names the act, `refused` why it is asked. */
  stepUp(what: string, refused: Refused): Promise<boolean>;
  signInAgain(): Promise<boolean>;
  /** Somebody else has changed the account. */
  goOnDespiteChange(what: string): Promise<boolean>;
}

const STEP_UP = new Set(['step_up_required', 'fresh_step_up_required', 'totp_not_enrolled']);

export class Api {
  readonly #signIn: SignIn;
  #questions: Questions | null = null;
  #revision: number | null = null;

  constructor(signIn: SignIn) {
    this.#signIn = signIn;
  }

  ask(questions: Questions): void {
    this.#questions = questions;
  }

  /** Reads the account; later writes carry its revision. */
  async account(): Promise<Account> {
    const account = await this.read<Account>('account');
    this.#revision = account.revision;
    return account;
  }

  async read<T>(path: string): Promise<T> {
    return this.#again<T>(() => this.#send('GET', path));
  }

  /** Sends a write. `what` names it in the questions. Rejects with `Refused`. */
  async write<T>(what: string, method: string, path: string, body?: object): Promise<T> {
    const send = () => this.#again<T>(() => this.#send(method, path, body, this.#revision));
    for (;;) {
      try {
        const answer = await send();
        // If this fails, the next write finds a change and asks.
        await this.account().catch(() => null);
        return answer;
      } catch (error) {
        if (!(error instanceof Refused) || !(await this.#mayRepeat(what, error))) throw error;
      }
    }
  }

  /** Sends a code or enrols a factor; neither changes the account. */
  factor<T>(path: 'totp/verify' | 'totp/enroll', body: object): Promise<T> {
    return this.#again<T>(() => this.#send('POST', path, body));
  }

  async #mayRepeat(what: string, refused: Refused): Promise<boolean> {
    const questions = this.#questions;
    if (questions === null) return false;
    if (STEP_UP.has(refused.reason)) return questions.stepUp(what, refused);
    if (refused.reason !== 'partner_changed') return false;
    const goesOn = await questions.goOnDespiteChange(what);
    await this.account();
    return goesOn;
  }

  /** Sends a call, and once more after a new sign-in if the token was refused. */
  async #again<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refused) || error.reason !== 'sign_in_required') throw error;
      const renewed = (await this.#signIn.renew()) || (await this.#questions?.signInAgain());
      if (!renewed) throw error;
      return send();
    }
  }

  async #send<T>(
    method: string,
    path: string,
    body?: object,
    revision: number | null = null,
  ): Promise<T> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#signIn.token}` };
    if (revision !== null) headers['If-Match'] = String(revision);
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const reply = await fetch(`/partner/admin/${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const told = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Refused(reply.status, told, reply.headers.get('X-Request-Id') ?? '');
    return told as T;
  }
}
