/** The texts that come with chess. See `own.ts`. */

import type { Catalogue } from './en';

export const words: Partial<Catalogue> = {};
