/**
 * The frame's client of the Game API. It checks the session, opens the socket and reconnects.
 * It keeps the session token in memory only.
 */

import { readMessage, readReason, readSession } from './protocol';
import type { ServerMessage, Session } from './protocol';

export type SocketState =
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'retrying'; reason: string }
  | { kind: 'stopped'; reason: string };

/** The part of `WebSocket` that is used here. */
export interface SocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: { data: unknown }) => unknown) | null;
  onclose: ((event: { code: number }) => unknown) | null;
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
}

/** The parts of the browser that are used here. Tests replace them. Times are in milliseconds. */
export interface Browser {
  fetch(url: string, init: RequestInit): Promise<Response>;
  socket(path: string, protocols: string[]): SocketLike;
  /** Starts a timer. Returns the function that cancels it. */
  after(ms: number, then: () => void): () => void;
  random(): number;
  now(): number;
  /** Adds the style sheet of a game. */
  adoptStyles(styles: string): void;
}

export interface Listener {
  onSocketState(state: SocketState): void;
  /** Returns whether the session belongs to the partner and environment of this document. */
  accepts(session: Session): boolean;
  /** `aheadMs`: by how much the server's clock is ahead of this machine's. */
  onSession(session: Session, aheadMs: number): void;
  onMessage(message: ServerMessage): void;
}

/** The close codes after which the client must not reconnect by itself, and why. */
const FINAL_CLOSE_CODES: Record<number, string> = {
  4401: 'session_expired',
  4403: 'session_ended',
  4409: 'session_replaced',
};
const SERVER_STOPPING = 1001;
const REGISTRY_UNREADABLE = 4503;

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** A socket that stays open this long is stable: the next loss starts with the shortest wait. */
const STABLE_MS = 10_000;
/** How long the session call, and then the handshake, may take. */
const TIMEOUT_MS = 10_000;
/** Shorter than the idle timeout of common proxies, which is a minute or more. */
const PING_MS = 20_000;

/** `WebSocket.OPEN` */
const OPEN = 1;

export class GameClient {
  #token: string | null = null;
  #socket: SocketLike | null = null;
  /** The number of the current attempt. Events of earlier attempts are ignored. */
  #attempt = 0;
  /** How many attempts have failed since the last stable connection. */
  #failures = 0;
  /** Whether the client has reconnected without a wait since the last stable connection. */
  #hasReconnectedAtOnce = false;
  #heardSincePing = true;
  #timers = new Set<() => void>();
  readonly #browser: Browser;
  readonly #listener: Listener;

  constructor(browser: Browser, listener: Listener) {
    this.#browser = browser;
    this.#listener = listener;
  }

  /** Connects with a token. An earlier connection is dropped. */
  start(token: string): void {
    this.#token = token;
    this.#failures = 0;
    this.#hasReconnectedAtOnce = false;
    this.#listener.onSocketState({ kind: 'connecting' });
    this.#connect();
  }

  /** Makes the next attempt now, if the client waits before it. */
  retryNow(): void {
    const waiting = this.#socket === null && this.#timers.size > 0;
    if (this.#token !== null && waiting) this.#connect();
  }

  /** Sends a message. Returns false if no socket is open. */
  send(message: object): boolean {
    if (this.#socket?.readyState !== OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #stop(reason: string): void {
    this.#drop();
    this.#token = null;
    this.#listener.onSocketState({ kind: 'stopped', reason });
  }

  /** Ends the current attempt: cancels its timers and closes its socket. */
  #drop(): void {
    this.#attempt += 1;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** Starts a timer of the current attempt. Returns the function that cancels it. */
  #after(ms: number, then: () => void): () => void {
    const cancel = this.#browser.after(ms, () => {
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
    void this.#checkSession(this.#attempt);
  }

  /** Calls `GET /game/session`, since browsers cannot read the answer to a refused handshake. */
  async #checkSession(attempt: number): Promise<void> {
    const abort = new AbortController();
    const cancelTimeout = this.#after(TIMEOUT_MS, () => abort.abort());
    const sentAt = this.#browser.now();
    let answer: Response;
    let body: unknown = null;
    try {
      answer = await this.#browser.fetch('/game/session', {
        headers: { Authorization: `Bearer ${this.#token}`, Accept: 'application/json' },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        signal: abort.signal,
      });
      body = await answer.json().catch(() => null);
    } catch {
      if (attempt === this.#attempt) this.#retry('connection_lost');
      return;
    } finally {
      if (attempt === this.#attempt) cancelTimeout();
    }
    if (attempt !== this.#attempt) return;
    const session = answer.ok ? readSession(body) : null;
    if (session === null) {
      this.#refused(answer, readReason(body));
      return;
    }
    if (!this.#listener.accepts(session)) {
      this.#stop('session_mismatch');
      return;
    }
    this.#listener.onSession(session, this.#clockAhead(answer, sentAt));
    if (attempt === this.#attempt) this.#open(attempt);
  }

  #refused(answer: Response, reason: string | null): void {
    if (answer.status === 401) this.#stop('session_invalid');
    else if (answer.status === 403) this.#stop(reason ?? 'session_refused');
    else {
      const retryAfterMs = Number(answer.headers.get('Retry-After')) * 1000 || 0;
      this.#retry(reason ?? 'service_unavailable', retryAfterMs);
    }
  }

  /**
   * Returns the most by which the server's clock can be ahead of this machine's, in milliseconds.
   * The `Date` header has whole seconds, so the server's time can be up to a second later than the
   * header says. The latest possible time is taken, so that no clock shows more time than a player
   * has left.
   */
  #clockAhead(answer: Response, sentAt: number): number {
    const date = Date.parse(answer.headers.get('Date') ?? '');
    return Number.isNaN(date) ? 0 : date + 999 - sentAt;
  }

  #open(attempt: number): void {
    let socket: SocketLike;
    try {
      socket = this.#browser.socket('/game/socket', ['pgs.game.v1', `pgs.token.${this.#token}`]);
    } catch {
      this.#retry('connection_lost');
      return;
    }
    this.#socket = socket;
    const cancelTimeout = this.#after(TIMEOUT_MS, () => this.#retry('connection_lost'));
    socket.onopen = () => {
      if (attempt !== this.#attempt) return;
      cancelTimeout();
      this.#opened();
    };
    socket.onmessage = (event) => {
      if (attempt !== this.#attempt) return;
      this.#heardSincePing = true;
      const message = readMessage(event.data);
      if (message !== null) this.#listener.onMessage(message);
    };
    socket.onclose = (event) => {
      if (attempt === this.#attempt) this.#closed(event.code);
    };
  }

  #opened(): void {
    this.#after(STABLE_MS, () => {
      this.#failures = 0;
      this.#hasReconnectedAtOnce = false;
    });
    this.#heardSincePing = true;
    this.#ping();
    this.#listener.onSocketState({ kind: 'open' });
  }

  #ping(): void {
    this.#after(PING_MS, () => {
      if (!this.#heardSincePing) {
        this.#retry('connection_lost');
        return;
      }
      this.#heardSincePing = false;
      this.send({ type: 'ping', id: String(this.#browser.now()) });
      this.#ping();
    });
  }

  #closed(code: number): void {
    const final = FINAL_CLOSE_CODES[code];
    if (final !== undefined) {
      this.#stop(final);
    } else if (code === SERVER_STOPPING && !this.#hasReconnectedAtOnce) {
      // This code asks clients to reconnect at once. If it comes twice in a row, the client waits.
      this.#hasReconnectedAtOnce = true;
      this.#listener.onSocketState({ kind: 'connecting' });
      this.#connect();
    } else {
      this.#retry(code === REGISTRY_UNREADABLE ? 'registry_unavailable' : 'connection_lost');
    }
  }

  /** Drops the connection and connects again after a wait, which doubles with each failure. */
  #retry(reason: string, atLeastMs = 0): void {
    this.#drop();
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    // A random part of the wait, at least half, so that not all frames come back at once.
    const wait = longest * (0.5 + this.#browser.random() / 2);
    this.#failures += 1;
    this.#listener.onSocketState({ kind: 'retrying', reason });
    this.#after(Math.max(atLeastMs, wait), () => this.#connect());
  }
}
