/**
 * A browser for tests: time stands still until `pass` is called, and the test plays the server on
 * each socket. The messages that tests send are at the end of the file.
 */

import type { Browser, SocketLike } from '../src/frame/game-client';

export class FakeSocket implements SocketLike {
  onopen: ((event: never) => unknown) | null = null;
  onmessage: ((event: { data: unknown }) => unknown) | null = null;
  onclose: ((event: { code: number }) => unknown) | null = null;
  readyState = 0;
  /** The messages that the frame has sent. */
  readonly sent: Record<string, unknown>[] = [];
  readonly path: string;
  readonly protocols: string[];

  constructor(path: string, protocols: string[]) {
    this.path = path;
    this.protocols = protocols;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  /** Opens the socket, and delivers `welcome` as the server does. */
  open(): void {
    this.readyState = 1;
    this.onopen?.(undefined as never);
    this.deliver({ type: 'welcome' });
  }

  /** Delivers a message of the server. */
  deliver(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** Closes the socket from the server's side, or loses it. */
  lose(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

interface Timer {
  at: number;
  then: () => void;
}

export class FakeBrowser implements Browser {
  time = 1_000_000;
  readonly sockets: FakeSocket[] = [];
  /** The calls of `fetch`. */
  readonly calls: { url: string; headers: Record<string, string> }[] = [];
  /** Makes the answer to each call. */
  answer: () => Response | Promise<Response> = () => session();
  #timers = new Set<Timer>();

  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.calls.push({ url, headers: init.headers as Record<string, string> });
    const aborted = new Promise<never>((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });
    return Promise.race([this.answer(), aborted]);
  }

  socket(path: string, protocols: string[]): FakeSocket {
    const socket = new FakeSocket(path, protocols);
    this.sockets.push(socket);
    return socket;
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.time + ms, then };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return 1;
  }

  now(): number {
    return this.time;
  }

  adoptStyles(): void {}

  get newest(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  }

  /** Moves time on. Timers fire in order, and promises settle before and after each. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await finishPromises();
      const due = [...this.#timers].filter((timer) => timer.at <= end);
      const next = due.sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.time = next.at;
      next.then();
    }
    this.time = end;
    await finishPromises();
  }
}

/** Waits until promises that need no timer are done. Reading a `Response` takes a few turns. */
async function finishPromises(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((done) => setImmediate(done));
}

const SESSION = {
  playerId: 'alice',
  environment: 'test',
  gameId: 'tic-tac-toe',
  expiresAt: 4_000_000_000,
  matches: [],
  seats: [],
};

export function session(): Response {
  return Response.json(SESSION);
}

export function refusal(
  status: number,
  body: object = {},
  headers: Record<string, string> = {},
): Response {
  return Response.json(body, { status, headers });
}

const EMPTY = [
  [null, null, null],
  [null, null, null],
  [null, null, null],
];

/** Returns a snapshot of a match in which the player is to move. */
export function snapshot(fields: object = {}): object {
  return {
    type: 'snapshot',
    matchId: 'mat_1',
    gameId: 'tic-tac-toe',
    seq: 1,
    ply: 0,
    you: 0,
    turn: 0,
    state: { board: EMPTY },
    legalMoves: ['a1', 'b2'],
    deadlineAtMs: 1_030_000,
    opponent: { playerId: 'bob', connected: true },
    ...fields,
  };
}

/** Returns the message about the move `a1` of the player, after that snapshot. */
export function moved(fields: object = {}): object {
  return {
    type: 'moved',
    matchId: 'mat_1',
    seq: 2,
    ply: 1,
    by: 0,
    move: 'a1',
    state: { board: [[0, null, null], EMPTY[1], EMPTY[2]] },
    turn: 1,
    legalMoves: ['b2'],
    deadlineAtMs: 1_060_000,
    ...fields,
  };
}
