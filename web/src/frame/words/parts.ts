/** Which texts only some games need. They are loaded with these games. */

export const PARTS = {
  chess: [
    /\.chess\b|promotion/,
    /^(piece|promote)\./,
    /^(captured|increment|yours\.check.*|cell\.(check|held)|how\.chess.*)$/,
  ],
  discs: [
    /\.(tic-tac-toe|connect-four|reversi)\b/,
    /^(column|yours\.pass)/,
    /^(discs|cell\.line|how\.(full|equal)|move\.(column|pass))$/,
  ],
} as const;

/** The names of games are shown before a game is loaded. */
const ALWAYS = /^game\./;

export type Part = keyof typeof PARTS;

/** Returns the part that a text comes with, or null for one that the frame always has. */
export function partOf(key: string): Part | null {
  if (ALWAYS.test(key)) return null;
  const parts = Object.keys(PARTS) as Part[];
  return parts.find((part) => PARTS[part].some((some) => some.test(key))) ?? null;
}
