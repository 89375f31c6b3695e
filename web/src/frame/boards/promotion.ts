import type { Key } from '../words/en';

/** Returns the key of the name of the piece that a pawn becomes, or null for other moves. */
export function promotionKey(move: string): Key | null {
  const letter = move.slice(4);
  return letter !== '' && 'qnrb'.includes(letter) ? (`piece.${letter}` as Key) : null;
}
