/** Which sound a change makes. */

import type { Published } from './controller';
import type { SoundName } from './sound';

/** Returns the sound of a change, or null if it makes none. */
export function cueOf(before: Published, after: Published, hidden: boolean): SoundName | null {
  const [{ play: was }, { play: is }] = [before, after];
  if (is.ending !== null && was.ending === null) return is.ending.result === 'won' ? 'won' : 'over';
  if (after.low && !before.low) return 'low';
  if (is.match === null || is.match.matchId !== was.match?.matchId) return null;
  if (is.match.ply === was.match.ply || is.match.lastMove === null) return null;
  if (is.match.lastMove.by === is.match.you) return 'place';
  return hidden ? 'turn' : 'theirs';
}
