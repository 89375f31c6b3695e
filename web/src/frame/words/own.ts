/**
 * The catalogues of the build: the texts that are part of the script, those that come with a game,
 * and the languages that can be loaded. The build replaces this file, `own-chess.ts` and
 * `own-discs.ts` for each language (`web/vite.config.ts`). The files here are English, and this one
 * has all texts.
 */

import type { Catalogue } from './en';

export { en as OWN } from './en';
export const LANGUAGE = 'en';
export const OTHERS: Record<string, () => Promise<{ catalogue: Catalogue }>> = {
  ar: () => import('./ar'),
  de: () => import('./de'),
  es: () => import('./es'),
  fr: () => import('./fr'),
  pt: () => import('./pt'),
};
