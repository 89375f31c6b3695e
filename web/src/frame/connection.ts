/** The connection to the Game API: checks the session, opens the socket, and comes back by itself. It holds the token in memory alone. */

import { readMessage, readReason, readSession } from './protocol';
import type { ServerMessage, Session } from './protocol';

export type Link =
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'retrying'; reason: string }
  | { kind: 'stopped'; reason: string };

export interface SocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: { data: unknown }) => unknown) | null;
  onclose: ((event: { code: number }) => unknown) | null;
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
}

/** Everything that the connection takes from its surroundings. `after` returns how to call the timer off. */
export interface Surroundings {
  fetch(url: string, init: RequestInit): Promise<Response>;
  socket(url: string, protocols: string[]): SocketLike;
  after(ms: number, then: () => void): () => void;
  random(): number;
  now(): number;
}

export interface Listener {
  link(link: Link): void;
  session(session: Session, clockAheadMs: number): void;
  message(message: ServerMessage): void;
}

/** What a close code means where coming back by itself would be wrong. */
const FINAL: Record<number, string> = { 4401: 'session_expired', 4403: 'session_ended', 4409: 'session_replaced' };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Open this long, a connection counts as sound, and the next loss begins with the shortest wait again. */
const SOUND_MS = 10_000;
const PATIENCE_MS = 10_000;
/** Well under the idle time of common proxies. */
const PING_MS = 20_000;

export class Connection {
  #token: string | null = null;
  #socket: SocketLike | null = null;
  #round = 0;
  #failures = 0;
  #hurried = false;
  #answered = true;
  #timers = new Set<() => void>();
  readonly #around: Surroundings;
  readonly #listener: Listener;

  constructor(around: Surroundings, listener: Listener) {
    this.#around = around;
    this.#listener = listener;
  }

  /** Connects with a token; one that is in use is replaced. */
  start(token: string): void {
    this.#token = token;
    this.#failures = 0;
    this.#hurried = false;
    this.#listener.link({ kind: 'connecting' });
    this.#connect();
  }

  /** Makes the next attempt now, where one is being waited for. */
  hurry(): void {
    if (this.#token !== null && this.#socket === null && this.#timers.size > 0) this.#connect();
  }

  /** Returns whether the message went out to an open socket. */
  send(message: object): boolean {
    if (this.#socket?.readyState !== 1) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Ends it; `start` begins anew. */
  stop(reason: string): void {
    this.#drop();
    this.#token = null;
    this.#listener.link({ kind: 'stopped', reason });
  }

  #drop(): void {
    this.#round += 1;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const socket = this.#socket;
    this.#socket = null;
    // What it still has to say is of an earlier round, and not listened to.
    socket?.close();
  }

  #after(ms: number, then: () => void): () => void {
    const cancel = this.#around.after(ms, () => {
      this.#timers.delete(cancel);
      then();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  #connect(): void {
    this.#drop();
    void this.#attempt(this.#round);
  }

  async #attempt(round: number): Promise<void> {
    const given = new AbortController();
    const enough = this.#after(PATIENCE_MS, () => given.abort());
    const began = this.#around.now();
    let answer: Response;
    let body: unknown = null;
    try {
      answer = await this.#around.fetch('/game/session', {
        headers: { Authorization: `Bearer ${this.#token}`, Accept: 'application/json' },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        signal: given.signal,
      });
      body = await answer.json().catch(() => null);
    } catch {
      if (round === this.#round) this.#retry('connection_lost');
      return;
    } finally {
      if (round === this.#round) enough();
    }
    if (round !== this.#round) return;
    const session = answer.ok ? readSession(body) : null;
    if (session !== null) {
      this.#listener.session(session, this.#clockAhead(answer, began));
      if (round === this.#round) this.#open(round);
    } else if (answer.status === 401) {
      this.stop('session_invalid');
    } else if (answer.status === 403) {
      this.stop(readReason(body) ?? 'session_refused');
    } else {
      this.#retry(readReason(body) ?? 'service_unavailable', Number(answer.headers.get('Retry-After')) * 1000 || 0);
    }
  }

  /** By how much the server's clock is ahead of ours, to the second: the header has no more. */
  #clockAhead(answer: Response, began: number): number {
    const told = Date.parse(answer.headers.get('Date') ?? '');
    return Number.isNaN(told) ? 0 : told + 500 - (began + this.#around.now()) / 2;
  }

  #open(round: number): void {
    let socket: SocketLike;
    try {
      socket = this.#around.socket('/game/socket', ['pgs.game.v1', `pgs.token.${this.#token}`]);
    } catch {
      this.#retry('connection_lost');
      return;
    }
    this.#socket = socket;
    const late = this.#after(PATIENCE_MS, () => this.#retry('connection_lost'));
    socket.onopen = () => {
      if (round !== this.#round) return;
      late();
      this.#after(SOUND_MS, () => {
        this.#failures = 0;
        this.#hurried = false;
      });
      this.#answered = true;
      this.#ping();
      this.#listener.link({ kind: 'open' });
    };
    socket.onmessage = (event) => {
      if (round !== this.#round) return;
      this.#answered = true;
      const message = readMessage(event.data);
      if (message !== null) this.#listener.message(message);
    };
    socket.onclose = (event) => {
      if (round !== this.#round) return;
      this.#closed(event.code);
    };
  }

  #ping(): void {
    this.#after(PING_MS, () => {
      if (!this.#answered) {
        this.#retry('connection_lost');
        return;
      }
      this.#answered = false;
      this.send({ type: 'ping', id: String(this.#around.now()) });
      this.#ping();
    });
  }

  #closed(code: number): void {
    const final = FINAL[code];
    if (final !== undefined) {
      this.stop(final);
    } else if (code === 1001 && !this.#hurried) {
      // The server restarts and asks us back: at once, but only once in a row.
      this.#hurried = true;
      this.#listener.link({ kind: 'connecting' });
      this.#connect();
    } else {
      this.#retry(code === 4503 ? 'registry_unavailable' : 'connection_lost');
    }
  }

  #retry(reason: string, atLeastMs = 0): void {
    this.#drop();
    const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#listener.link({ kind: 'retrying', reason });
    this.#after(Math.max(atLeastMs, ceiling * (0.5 + this.#around.random() / 2)), () => this.#connect());
  }
}
