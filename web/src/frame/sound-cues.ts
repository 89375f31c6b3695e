/** Which sound a change makes. */

import { adapterOf } from './boards';
import type { Board } from './boards/types';
import { shownMatch } from './history';
import type { Published } from './published';
import type { Match } from './play';
import type { SoundName } from './sound';

/**
 * Returns the sound of a change, or null if it makes none. A move of the player sounds when it is
 * seen, and not once more when the server has it.
 */
export function cueOf(before: Published, after: Published, hidden: boolean): SoundName | null {
  const [{ play: was }, { play: is }] = [before, after];
  if (is.ending !== null && was.ending === null) return is.ending.result === 'won' ? 'won' : 'over';
  if (after.low && !before.low) return 'low';
  const [shown, match] = [shownMatch(was, null), shownMatch(is, null)];
  if (match === null || shown?.matchId !== match.matchId) return null;
  if (match.ply <= shown.ply || match.lastMove === null) return null;
  const own = match.lastMove.by === match.you;
  // A player who looks elsewhere hears the sound of a turn, whatever the move was.
  if (hidden && !own) return 'turn';
  const [old, now] = [boardOf(shown), boardOf(match)];
  if (now?.check === true) return 'check';
  if (marks(now) < marks(old)) return 'take';
  return own ? 'place' : 'theirs';
}

const marks = (board: Board | null | undefined): number =>
  board?.rows.flat().filter((cell) => cell.mark).length ?? 0;

const boardOf = (match: Match) => adapterOf(match.gameId)?.board(match.state, match.you, null);
