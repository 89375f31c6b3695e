/**
 * The catalogues of the build: the texts that are part of the script, those that come with a game,
 * and the languages that can be loaded. The build writes this file and the two beside it anew for
 * each language (`web/vite.config.ts`). As they stand here they are English, with all texts in one.
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
