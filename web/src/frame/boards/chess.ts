import { cellId, field } from './cells';
import type { Adapter, Cell, Highlight, Mark } from './types';

const SIZE = 8;

/** The pieces by their letter in Forsyth-Edwards notation and in UCI promotions, in lower case. */
const PIECES: Record<string, { name: string; glyph: string }> = {
  p: { name: 'pawn', glyph: '♟' },
  n: { name: 'knight', glyph: '♞' },
  b: { name: 'bishop', glyph: '♝' },
  r: { name: 'rook', glyph: '♜' },
  q: { name: 'queen', glyph: '♛' },
  k: { name: 'king', glyph: '♚' },
};

const IN_CHECK: Highlight = { kind: 'alert', label: 'in check' };

// A move in UCI notation, such as `e7e8q`: two squares, and the letter of a promotion.
const from = (move: string): string => move.slice(0, 2);
const to = (move: string): string => move.slice(2, 4);
const promotion = (move: string): string | undefined => PIECES[move.slice(4)]?.name;

/** Side 0 plays white. Side 1 sees the board turned round. */
export const chess: Adapter = {
  gameId: 'chess',
  name: 'Chess',
  sides: ['White', 'Black'],
  board(state, you, lastMove) {
    const fen = field(state, 'fen');
    const [placement = '', turn] = typeof fen === 'string' ? fen.split(' ') : [];
    const given = field(state, 'last');
    const last = typeof given === 'string' ? given : (lastMove ?? '');
    const check = field(state, 'check') === true;
    const checkedKing = check ? (turn === 'w' ? 'K' : 'k') : null;
    const rows = readPlacement(placement, last, checkedKing);
    if (rows === null) return null;
    if (you === 1) rows.reverse().forEach((row) => row.reverse());
    return { rows, note: check ? 'Check' : null };
  },
  sources: (legalMoves) => new Set(legalMoves.map(from)),
  targets(legalMoves, picked) {
    const targets = new Map<string, string[]>();
    for (const move of legalMoves) {
      if (from(move) === picked) targets.set(to(move), [...(targets.get(to(move)) ?? []), move]);
    }
    return targets;
  },
  landing: to,
  choice: { question: 'Promote to', label: (move) => promotion(move) ?? move },
  say(move) {
    const piece = promotion(move);
    return `${from(move)} to ${to(move)}${piece === undefined ? '' : `, promoted to ${piece}`}`;
  },
};

/**
 * Returns the squares of the first field of a FEN, rank 8 first, or null if it cannot be read.
 * The king with the letter `checkedKing` is highlighted as being in check.
 */
function readPlacement(
  placement: string,
  last: string,
  checkedKing: string | null,
): Cell[][] | null {
  const ranks = placement.split('/');
  if (ranks.length !== SIZE) return null;
  const rows: Cell[][] = [];
  for (const [index, rank] of ranks.entries()) {
    const row = SIZE - 1 - index;
    const letters = [...rank.replace(/[1-8]/g, (digit) => '.'.repeat(Number(digit)))];
    if (letters.length !== SIZE) return null;
    const cells: Cell[] = [];
    for (const [column, letter] of letters.entries()) {
      const mark = letter === '.' ? null : pieceOf(letter);
      if (mark === undefined) return null;
      const id = cellId(column, row);
      cells.push({
        id,
        mark,
        last: id === from(last) || id === to(last),
        highlight: letter === checkedKing ? IN_CHECK : null,
        dark: (column + row) % 2 === 0,
      });
    }
    rows.push(cells);
  }
  return rows;
}

/** Returns the piece of a FEN letter: upper case is white. Returns undefined for other letters. */
function pieceOf(letter: string): Mark | undefined {
  const piece = PIECES[letter.toLowerCase()];
  if (piece === undefined) return undefined;
  const white = letter === letter.toUpperCase();
  const label = `${white ? 'white' : 'black'} ${piece.name}`;
  return { side: white ? 0 : 1, shape: { glyph: piece.glyph }, label };
}
