/** The texts that are loaded with tic-tac-toe, connect four and reversi. See `own.ts`. */

import type { Catalogue } from './en';

export const words: Partial<Catalogue> = {};
