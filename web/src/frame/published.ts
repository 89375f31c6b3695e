/** What the controller publishes, for everything that is drawn. */

import type { Announced } from './announcer';
import type { Play } from './play';
import type { Key } from './words/en';
import type { Locale } from './words/locale';

export interface Published {
  play: Play;
  locale: Locale;
  announced: readonly Announced[];
  /** Whether the player's clock is low: it runs, and at most ten seconds are left. */
  low: boolean;
  /** Why the last press did nothing, until something changes. */
  refusal: Key | null;
  /** The number of moves made before the position on the screen; null for the newest position. */
  past: number | null;
  /** Whether another match is offered or asked for; `late`: the page has not answered in time. */
  again: 'no' | 'offered' | 'asked' | 'late';
}
