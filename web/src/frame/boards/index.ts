import { chess } from './chess';
import { connectFour } from './connect-four';
import { reversi } from './reversi';
import { ticTacToe } from './tic-tac-toe';
import type { Adapter } from './types';

const ADAPTERS: Record<string, Adapter> = { 'tic-tac-toe': ticTacToe, 'connect-four': connectFour, reversi, chess };

/** Returns the adapter of a game, or null for one that this build cannot draw. */
export function adapterOf(gameId: string): Adapter | null {
  return Object.hasOwn(ADAPTERS, gameId) ? (ADAPTERS[gameId] ?? null) : null;
}
