/** Surroundings that a test holds still: time moves when it is told to, and each socket is in the test's hands. */

import type { SocketLike, Surroundings } from '../src/frame/connection';

export class FakeSocket implements SocketLike {
  onopen: ((event: never) => unknown) | null = null;
  onmessage: ((event: { data: unknown }) => unknown) | null = null;
  onclose: ((event: { code: number }) => unknown) | null = null;
  readyState = 0;
  readonly sent: Record<string, unknown>[] = [];
  readonly url: string;
  readonly protocols: string[];

  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.(undefined as never);
    this.say({ type: 'welcome' });
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  lose(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

interface Timer {
  at: number;
  then: () => void;
}

export class Stage implements Surroundings {
  time = 1_000_000;
  readonly sockets: FakeSocket[] = [];
  readonly asked: { url: string; headers: Record<string, string> }[] = [];
  answer: () => Response | Promise<Response> = () => session();
  #timers = new Set<Timer>();

  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.asked.push({ url, headers: init.headers as Record<string, string> });
    return this.answer();
  }

  socket(url: string, protocols: string[]): FakeSocket {
    const socket = new FakeSocket(url, protocols);
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

  get newest(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  }

  /** Moves time on, timer by timer, and lets everything that was promised happen. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settle();
      const next = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.time = next.at;
      next.then();
    }
    this.time = end;
    await settle();
  }
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((done) => setImmediate(done));
}

export const SESSION = { playerId: 'alice', environment: 'test', gameId: 'tic-tac-toe', expiresAt: 4_000_000_000, matches: [], seats: [] };

export function session(): Response {
  return Response.json(SESSION);
}

export const refusal = (status: number, body: object = {}, headers: Record<string, string> = {}) => Response.json(body, { status, headers });

export const EMPTY = [
  [null, null, null],
  [null, null, null],
  [null, null, null],
];

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
