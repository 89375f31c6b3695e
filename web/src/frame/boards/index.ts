import { chess } from './chess';
import { connectFour } from './connect-four';
import { reversi } from './reversi';
import { ticTacToe } from './tic-tac-toe';
import type { Adapter } from './types';

const ADAPTERS = new Map<string, Adapter>(
  [ticTacToe, connectFour, reversi, chess].map((adapter) => [adapter.gameId, adapter]),
);

/** Returns the adapter of a game, or null for a game that this build cannot draw. */
export function adapterOf(gameId: string): Adapter | null {
  return ADAPTERS.get(gameId) ?? null;
}
