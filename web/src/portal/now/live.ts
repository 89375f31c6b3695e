/** The live events of an account. When one stream ends, the next one is opened. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { Refused } from '../api';

export type LiveEvent = { at: number } & (
  | {
      kind: 'call';
      method: string;
      path: string;
      status: number;
      requestId: string;
      durationMs: number;
      last4: string;
      reason?: string;
      error?: string;
      /** Fields with which the service would have accepted the call. */
      corrected?: { gameId: string; tierId: string; stakeUsdCents: number };
    }
  | { kind: 'calls'; untold: number }
  | { kind: 'refusal'; path: string; reason: string }
  | {
      kind: 'seat';
      seatId: string;
      matchId: string | null;
      playerId: string;
      gameId: string;
      tierId: string;
      status: string;
      stakeUsdCents: number;
    }
  | { kind: 'match'; matchId: string; gameId: string; status: string; endReason: string | null }
  | {
      kind: 'nudge';
      nudgeId: string;
      matchId: string | null;
      try: number;
      delivered: boolean;
      statusCode: number | null;
      test: boolean;
    }
  | { kind: 'budget'; left: number; burst: number }
  | { kind: 'lost'; events: number }
  /** Made by the page itself, not by the service: the page was left at `since` and opened again. */
  | { kind: 'away'; since: number }
);

export type LiveKind = LiveEvent['kind'];

const KINDS = new Set<string>([
  'call', 'calls', 'refusal', 'seat', 'match', 'nudge', 'budget', 'lost',
]);

/** Milliseconds until a stream is asked for again: after its end, after a fault, when refused. */
const AGAIN_MS = 300;
const FAULT_MS = 3000;
const BUSY_MS = 10000;

/** More characters than any piece of a stream has. An unfinished piece is cut at this length. */
const PIECE_MAX = 65536;

/** Takes the text of a stream in any pieces, and gives its events. */
export class EventReader {
  #rest = '';

  read(text: string): LiveEvent[] {
    const pieces = (this.#rest + text).split('\n\n');
    this.#rest = (pieces.pop() ?? '').slice(0, PIECE_MAX);
    return pieces.map(eventOf).filter((event) => event !== null);
  }
}

function eventOf(piece: string): LiveEvent | null {
  const lines = piece.split('\n');
  const field = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const kind = field('event') ?? '';
  if (!KINDS.has(kind)) return null;
  try {
    const data = JSON.parse(field('data') ?? '') as object;
    return { at: Math.floor(Date.now() / 1000), ...data, kind } as LiveEvent;
  } catch {
    return null;
  }
}

async function follow(
  body: ReadableStream<Uint8Array>,
  take: (events: readonly LiveEvent[]) => void,
): Promise<void> {
  const events = new EventReader();
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const read = events.read(decoder.decode(value, { stream: true }));
    if (read.length > 0) take(read);
  }
}

export type Standing = 'opening' | 'open' | 'away';

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });

/**
 * Follows the stream while the page is shown. `take` gets the events as they come. Returns whether
 * the stream is open, and if it was refused or failed, why.
 */
export function useLive(
  api: Api,
  environment: Environment,
  take: (events: readonly LiveEvent[]) => void,
): { standing: Standing; error: unknown } {
  const [standing, stand] = useState<Standing>('opening');
  const [error, setError] = useState<unknown>(null);
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const run = async () => {
      while (!signal.aborted) {
        let wait = AGAIN_MS;
        try {
          const { body } = await api.stream(`live?environment=${environment}`, signal);
          stand('open');
          setError(null);
          if (body !== null) await follow(body, (events) => taking.current(events));
        } catch (failed) {
          if (signal.aborted) return;
          stand('away');
          setError(failed);
          wait = failed instanceof Refused ? BUSY_MS : FAULT_MS;
        }
        await pause(wait, signal);
      }
    };
    void run();
    return () => leaving.abort();
  }, [api, environment]);
  return { standing, error };
}
