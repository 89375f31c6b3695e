/** The texts that come with the games of discs and signs. See `own.ts`. */

import type { Catalogue } from './en';

export const words: Partial<Catalogue> = {};
