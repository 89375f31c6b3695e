/** The games that the frame can draw. Each is loaded when it is first needed. */

import { addTexts } from '../words/locale';
import type { Catalogue } from '../words/en';
import type { Adapter, GameId } from './types';

/** A part of the frame that is loaded later: games, their style sheet and their texts. */
export interface Kit {
  adapters: readonly Adapter[];
  styles: string;
  words: Partial<Catalogue>;
}

const discs = (): Promise<{ kit: Kit }> => import('./discs-kit');
const LOADERS: Record<GameId, () => Promise<{ kit: Kit }>> = {
  'tic-tac-toe': discs,
  'connect-four': discs,
  reversi: discs,
  chess: () => import('./chess-kit'),
};

const adapters = new Map<string, Adapter>();

/** Returns whether the frame can draw a game. */
export function isGame(gameId: string): gameId is GameId {
  return Object.hasOwn(LOADERS, gameId);
}

/** Returns the adapter of a game, or null if it is not loaded or this build cannot draw it. */
export function adapterOf(gameId: string): Adapter | null {
  return adapters.get(gameId) ?? null;
}

/** Loads a game, and hands its style sheet to `adopt` the first time. Rejects if it cannot. */
export async function loadGame(gameId: string, adopt: (styles: string) => void): Promise<void> {
  if (!isGame(gameId) || adapters.has(gameId)) return;
  const { kit } = await LOADERS[gameId]();
  if (!adapters.has(gameId)) addKit(kit, adopt);
}

/** Adds games that are loaded, and hands their style sheet to `adopt`. */
export function addKit(kit: Kit, adopt: (styles: string) => void): void {
  for (const adapter of kit.adapters) adapters.set(adapter.gameId, adapter);
  addTexts(kit.words);
  adopt(kit.styles);
}
