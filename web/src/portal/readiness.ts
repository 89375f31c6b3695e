/** What an account still needs before a match, as the service reports it. */

import { useCallback } from 'preact/hooks';
import type { Api, Environment } from './api';
import type { Member } from './changes';
import type { Match } from './match/match';
import { useReadingOf } from './page';
import type { Webhook } from './words/attempts';

export interface Gate {
  gate: string;
  ok: boolean;
  reason?: string;
  advice?: string;
  changeItAt?: string;
}

export interface Readiness {
  gameId: string;
  ready: boolean;
  gates: Gate[];
}

export interface Game {
  gameId: string;
  name: string;
  test: boolean;
  live: 'none' | 'requested' | 'granted' | 'denied' | 'withdrawn';
}

interface Key {
  environment: Environment;
  status: 'active' | 'scheduled' | 'revoked';
}

/** How many of the latest matches are read. */
const LATEST = 5;

/** What an account has and what it lacks for a match in an environment. */
export interface Standing {
  /** The game of `readiness`. The service chooses it: one that is on, if there is one. */
  game: Game | null;
  readiness: Readiness | null;
  /** How many keys of the environment work. */
  keys: number;
  /** The latest matches. */
  matches: Match[];
  /** Failures of the webhook in a row, up to now. */
  failures: number;
  /** The admins of the account, who can do what other members may not. */
  admins: string[];
}

/** Reads what the account has and what it lacks, all at the same time. */
export async function readStanding(api: Api, environment: Environment): Promise<Standing> {
  const reading = await Promise.all([
    api.read<{ games: Game[] }>('games?limit=500'),
    api.read<{ keys: Key[] }>('keys?limit=500'),
    api.read<{ matches: Match[] }>(`matches?environment=${environment}&limit=${LATEST}`),
    api.read<{ members: Member[] }>('members?limit=500'),
    api.read<{ webhook?: Webhook }>(`webhooks/${environment}`),
    api.read<Readiness>(`readiness?environment=${environment}`),
  ]);
  const [{ games }, { keys }, { matches }, { members }, { webhook }, readiness] = reading;
  const game = games.find(({ gameId }) => gameId === readiness.gameId) ?? null;
  return {
    game,
    readiness: game && readiness,
    keys: keys.filter((key) => key.environment === environment && key.status !== 'revoked').length,
    matches,
    failures: webhook?.consecutiveFailures ?? 0,
    admins: members.filter(({ role }) => role === 'admin').map(({ email }) => email),
  };
}

export function useStanding(api: Api, environment: Environment) {
  return useReadingOf(
    api,
    useCallback(() => readStanding(api, environment), [api, environment]),
  );
}
