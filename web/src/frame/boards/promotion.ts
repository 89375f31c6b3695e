import type { Key } from '../words/en';

// The queen is first: players expect it there, and it takes the focus.
const PIECES = 'qnrb';

/** Returns the place of a promotion's piece in `PIECES`. */
export const order = (move: string): number => PIECES.indexOf(move.slice(4));

/** Returns the key of the name of the piece that a pawn becomes, or null for other moves. */
export function promotionKey(move: string): Key | null {
  const letter = move.slice(4);
  return letter !== '' && PIECES.includes(letter) ? (`piece.${letter}` as Key) : null;
}
