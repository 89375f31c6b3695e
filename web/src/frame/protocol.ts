/**
 * The messages of the Game API, with the fields that the frame uses. The fields that the frame
 * cannot do without are checked in each message; fields that it does not know are ignored.
 */

import type { Colours } from '../design/theme';

/** 0 for the player who moves first, 1 for the other one. */
export type Side = 0 | 1;

export interface Theme extends Colours {
  displayName?: string;
  logo?: { mime: string; url?: string } | null;
  /** 0 for the default theme, whose colours follow the system's light or dark scheme. */
  revision?: number;
  /** Whether stakes and prizes are shown. They are, unless this is false. */
  showAmounts?: boolean;
}

export interface Session {
  playerId: string;
  /** `ptr:<environment>:<partner>:<player>` */
  playerUid?: string;
  environment?: string;
  displayName?: string;
  gameId: string;
  theme?: Theme;
  /** The player's matches that have not ended, the oldest first. */
  matches?: { matchId: string; status: string }[];
}

/** What a seat costs and what its winner gets, in US cents. */
export interface Amounts {
  stakeUsdCents?: number | null;
  prizeUsdCents?: number | null;
}

/** A paid seat that waits for an opponent. Times are in epoch seconds of the server. */
export interface Waiting extends Amounts {
  type: 'waiting';
  seatId?: string | null;
  gameId?: string;
  seatedAt?: number;
  expiresAt?: number;
  heldBack?: string;
}

export interface Opponent {
  displayName?: string;
  connected?: boolean;
}

/** The clocks of a match. Times are in milliseconds, deadlines in epoch time of the server. */
interface Clocks {
  deadlineAtMs?: number | null;
  /** What side 0 and side 1 have left, in games with a clock for each side. */
  remainingMs?: [number, number] | null;
}

export interface Position extends Clocks {
  /** Rises by one with each message about the match. */
  seq: number;
  /** The number of moves that have been played. */
  ply: number;
  turn: Side;
  state: unknown;
  legalMoves: string[];
}

export interface Snapshot extends Position, Amounts {
  type: 'snapshot';
  matchId: string;
  gameId: string;
  you: Side;
  opponent: Opponent;
  /** How many milliseconds each move adds to the clock of its side. Absent where it adds none. */
  incrementMs?: number | null;
  /** The newest moves, the oldest first. */
  moves?: string[];
  /**
   * `started` while the match runs. Afterwards the outcome of the match; `result` and `endReason`
   * are then set as in `Ended`.
   */
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

export interface Presence extends Clocks {
  type: 'presence';
  matchId: string;
  seq: number;
  opponent: Opponent;
}

export interface Ended {
  type: 'ended';
  matchId: string;
  outcome: string;
  result?: string | null;
  endReason?: string | null;
  /** What this player gets: the prize, the stake back, or 0. */
  dueUsdCents?: number | null;
}

export type ServerMessage =
  | { type: 'welcome' }
  | Waiting
  | { type: 'no_seat' }
  | Snapshot
  | Moved
  | Presence
  | Ended
  | { type: 'error'; reason: string }
  | { type: 'pong' };

type Fields = Record<string, unknown>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isSide = (value: unknown): boolean => value === 0 || value === 1;

/** How each field is checked, in whatever message it comes. */
const FIELDS: Record<string, (value: unknown) => boolean> = {
  matchId: isText,
  gameId: isText,
  outcome: isText,
  reason: isText,
  move: isText,
  opponent: isObject,
  legalMoves: isTexts,
  moves: (value) => value === undefined || isTexts(value),
  by: isSide,
  you: isSide,
  turn: isSide,
  seq: Number.isFinite,
  ply: Number.isFinite,
};

const POSITION = 'matchId seq ply turn legalMoves';
/** The fields that each type of message must have. */
const NEEDED: Record<string, string> = {
  welcome: '',
  waiting: '',
  no_seat: '',
  snapshot: `${POSITION} gameId you opponent moves`,
  moved: `${POSITION} by move`,
  presence: 'matchId seq opponent',
  ended: 'matchId outcome',
  error: 'reason',
  pong: '',
};

/**
 * Returns the message in a text that the server sent, or null for anything that this frame does not
 * know, since newer servers may send more types.
 */
export function readMessage(text: unknown): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    return null;
  }
  if (!isObject(value) || !isText(value.type)) return null;
  if (!Object.hasOwn(NEEDED, value.type)) return null;
  const needed = NEEDED[value.type]?.split(' ') ?? [];
  const holds = needed.every((name) => FIELDS[name]?.(value[name]) ?? true);
  return holds ? (value as unknown as ServerMessage) : null;
}

/** Returns the session in an answer of `GET /game/session`, or null if there is none. */
export function readSession(value: unknown): Session | null {
  if (!isObject(value) || !isText(value.playerId) || !isText(value.gameId)) return null;
  return value as unknown as Session;
}

/** Returns the `reason` of a refusal, or null if it has none. */
export function readReason(value: unknown): string | null {
  return isObject(value) && isText(value.reason) ? value.reason : null;
}
