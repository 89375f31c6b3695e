/** What travels between the frame and the Game API, and how it is read: strictly where the frame depends on it, else not at all. */

export type Side = 0 | 1;

export interface Theme {
  displayName?: string;
  primaryColor?: string;
  backgroundColor?: string;
  textColor?: string;
  cornerRadius?: number;
  logo?: { mime: string; base64: string } | null;
}

export interface Session {
  playerId: string;
  displayName?: string;
  environment: string;
  gameId: string;
  expiresAt: number;
  theme?: Theme;
}

export interface Opponent {
  playerId?: string;
  displayName?: string;
  connected?: boolean;
}

export interface Position {
  seq: number;
  ply: number;
  turn: Side;
  state: unknown;
  legalMoves: string[];
  deadlineAtMs?: number | null;
  remainingMs?: [number, number] | null;
  nowMs?: number;
}

export interface Snapshot extends Position {
  type: 'snapshot';
  matchId: string;
  gameId: string;
  you: Side;
  opponent: Opponent;
  /** Of a match that has ended: its outcome, and what `ended` told. */
  status?: string;
  result?: string | null;
  endReason?: string | null;
}

export interface Moved extends Position {
  type: 'moved';
  matchId: string;
  by: Side;
  move: string;
}

export type ServerMessage =
  | { type: 'welcome' }
  | { type: 'waiting'; seatId?: string | null }
  | Snapshot
  | Moved
  | { type: 'presence'; matchId: string; seq: number; opponent: Opponent; deadlineAtMs?: number | null; remainingMs?: [number, number] | null }
  | { type: 'ended'; matchId: string; seq: number; outcome: string; result?: string | null; endReason?: string | null }
  | { type: 'error'; reason: string; ref?: unknown }
  | { type: 'pong'; id?: unknown };

type Fields = Record<string, unknown>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isSide = (value: unknown): value is Side => value === 0 || value === 1;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPosition = (value: Fields): boolean =>
  isNumber(value.seq) && isNumber(value.ply) && isSide(value.turn) && Array.isArray(value.legalMoves) && value.legalMoves.every(isText);

const SHAPES: Record<string, (value: Fields) => boolean> = {
  welcome: () => true,
  waiting: () => true,
  snapshot: (value) =>
    isText(value.matchId) && isText(value.gameId) && isSide(value.you) && isObject(value.opponent) && isPosition(value),
  moved: (value) => isText(value.matchId) && isSide(value.by) && isText(value.move) && isPosition(value),
  presence: (value) => isText(value.matchId) && isNumber(value.seq) && isObject(value.opponent),
  ended: (value) => isText(value.matchId) && isText(value.outcome),
  error: (value) => isText(value.reason),
  pong: () => true,
};

/** Returns the message in a text frame, or null for one that this frame does not know: newer servers may send more. */
export function readMessage(text: unknown): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    return null;
  }
  if (!isObject(value) || !isText(value.type)) return null;
  const fits = Object.hasOwn(SHAPES, value.type) ? SHAPES[value.type] : undefined;
  return fits?.(value) ? (value as unknown as ServerMessage) : null;
}

/** Returns the session in the answer of `GET /game/session`, or null. */
export function readSession(value: unknown): Session | null {
  if (!isObject(value) || !isText(value.playerId) || !isText(value.gameId)) return null;
  return value as unknown as Session;
}

/** Returns the `reason` of an answer in the error shape, or null. */
export function readReason(value: unknown): string | null {
  return isObject(value) && isText(value.reason) ? value.reason : null;
}
