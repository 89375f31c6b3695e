import { cellId, field } from './grid';
import type { Adapter, Cell } from './types';

const PIECES: Record<string, string> = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' };
const SIZE = 8;

/** White is side 0. Whoever plays black sees the board from the other end. */
export const chess: Adapter = {
  name: 'Chess',
  kind: 'chess',
  sides: ['White', 'Black'],
  board(state, you, move) {
    const fen = field(state, 'fen');
    const told = field(state, 'last');
    const [placement, turn] = typeof fen === 'string' ? fen.split(' ') : [];
    const last = typeof told === 'string' ? told : (move ?? '');
    const check = field(state, 'check') === true;
    const ranks = placement?.split('/') ?? [];
    if (ranks.length !== SIZE) return null;
    const rows: Cell[][] = [];
    for (const [down, rank] of ranks.entries()) {
      const row: Cell[] = [];
      for (const letter of rank.replace(/[1-8]/g, (digit) => '.'.repeat(Number(digit)))) {
        const id = cellId(row.length, SIZE - 1 - down);
        const piece = PIECES[letter.toLowerCase()];
        if (letter !== '.' && piece === undefined) return null;
        const white = letter === letter.toUpperCase();
        row.push({
          id,
          mark: piece === undefined ? null : { side: white ? 0 : 1, shape: letter.toLowerCase(), says: `${white ? 'white' : 'black'} ${piece}` },
          last: id === last.slice(0, 2) || id === last.slice(2, 4),
          alert: check && letter === (turn === 'w' ? 'K' : 'k'),
          dark: (row.length + SIZE - 1 - down) % 2 === 0,
        });
      }
      if (row.length !== SIZE) return null;
      rows.push(row);
    }
    if (you === 1) rows.reverse().forEach((row) => row.reverse());
    return { rows, note: check ? 'Check' : null };
  },
  sources: (legalMoves) => new Set(legalMoves.map((move) => move.slice(0, 2))),
  targets(legalMoves, picked) {
    const targets = new Map<string, string[]>();
    for (const move of legalMoves) {
      if (move.slice(0, 2) !== picked) continue;
      const to = move.slice(2, 4);
      targets.set(to, [...(targets.get(to) ?? []), move]);
    }
    return targets;
  },
  choice: (move) => PIECES[move.slice(4)] ?? move,
  say(move) {
    const promoted = PIECES[move.slice(4)];
    return `${move.slice(0, 2)} to ${move.slice(2, 4)}${promoted === undefined ? '' : `, promoted to ${promoted}`}`;
  },
};
