/** What the controller publishes, for everything that is drawn. */

import type { Announced } from './announcer';
import type { Play } from './play';
import type { Key } from './words/en';
import type { Speaker } from './words/speaker';

export interface Published {
  play: Play;
  speaker: Speaker;
  announced: readonly Announced[];
  /** Whether the player has less than ten seconds for the move. */
  low: boolean;
  /** Why the last press did nothing, until something changes. */
  refusal: Key | null;
  /** After how many moves the position on the screen stands, or null for the newest one. */
  past: number | null;
  /** Whether the host page offers another match, whether the player has asked, and in vain. */
  again: 'no' | 'offered' | 'asked' | 'late';
}
