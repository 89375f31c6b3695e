import type { Side } from '../protocol';
import type { Key } from '../words/en';
import { cellId, field } from './cells';
import { Choices } from '../view/choices';
import { useDrag } from '../view/drag';
import { MEN } from '../view/men';
import { chessAfter, indexOf } from './chess-moves';
import { notation } from './notation';
import { order, promotionKey } from './promotion';
import type { Adapter, Cell, Mark, Shape, Captured } from './types';

const SIZE = 8;
const LETTERS = 'pnbrqk';

/** How many pieces of a kind a side has at the start, and how many pawns one is worth. */
const COUNT: Record<string, number> = { q: 1, r: 2, b: 2, n: 2, p: 8 };
const WORTH: Record<string, number> = { q: 9, r: 5, b: 3, n: 3, p: 1 };

/** The rules by which a game can end in a draw, as the state names them. */
const DRAWS = ['stalemate', 'insufficient_material', 'repetition', 'fifty_moves'] as const;

// A move in UCI notation, such as `e7e8q`: two squares, and the letter of a promotion.
const from = (move: string): string => move.slice(0, 2);
const to = (move: string): string => move.slice(2, 4);

/** Side 0 plays white. Side 1 sees the board turned round. */
export const chess: Adapter = {
  gameId: 'chess',
  columns: SIZE,
  rows: SIZE,
  drawings: { kind: 'man', units: 48, shapes: MEN },
  useDrag,
  Choices,
  start: { fen: 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' },
  sign: () => 'k',
  board(state, you, lastMove) {
    const fen = field(state, 'fen');
    const [placement = '', turn] = typeof fen === 'string' ? fen.split(' ') : [];
    const given = field(state, 'last');
    const last = typeof given === 'string' ? given : (lastMove ?? '');
    const check = field(state, 'check') === true;
    const checkedKing = check ? (turn === 'w' ? 'K' : 'k') : null;
    const rows = readPlacement(placement, last, checkedKing);
    if (rows === null) return null;
    setOrigins(rows, last);
    if (you === 1) rows.reverse().forEach((row) => row.reverse());
    return { rows, check, captured: capturedBy(placement) };
  },
  sources: (legalMoves) => new Set(legalMoves.map(from)),
  targets(legalMoves, picked) {
    const targets = new Map<string, string[]>();
    for (const move of [...legalMoves].sort((one, other) => order(one) - order(other))) {
      if (from(move) === picked) targets.set(to(move), [...(targets.get(to(move)) ?? []), move]);
    }
    return targets;
  },
  say(move) {
    const parameters = { from: from(move), to: to(move) };
    const piece = promotionKey(move);
    if (piece === null) return { key: 'move.chess', parameters };
    return { key: 'move.promotion', parameters: { ...parameters, piece } };
  },
  how(state, _you, drawn) {
    if (!drawn) return { key: 'how.chess' };
    const rule = DRAWS.find((one) => one === field(state, 'draw'));
    return rule === undefined ? null : { key: `how.chess.${rule}` };
  },
  after: chessAfter,
  note: notation,
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
        highlight: letter === checkedKing ? 'check' : null,
        dark: (column + row) % 2 === 0,
      });
    }
    rows.push(cells);
  }
  return rows;
}

/** Sets where the pieces of the last move came from: two of them if it was castling. */
function setOrigins(rows: Cell[][], last: string): void {
  const cells = rows.flat();
  const moved = cells[indexOf(to(last))];
  if (moved === undefined) return;
  moved.from = from(last);
  const steps = to(last).charCodeAt(0) - from(last).charCodeAt(0);
  if (moved.mark?.shape !== 'k' || Math.abs(steps) !== 2) return;
  const rook = cells[indexOf(to(last)) - steps / 2];
  if (rook !== undefined) rook.from = (steps > 0 ? 'h' : 'a') + last.charAt(1);
}

/** Returns the piece of a FEN letter: upper case is white. Returns undefined for other letters. */
function pieceOf(letter: string): Mark | undefined {
  const shape = letter.toLowerCase();
  if (!LETTERS.includes(shape)) return undefined;
  const side: Side = letter === shape ? 1 : 0;
  return { side, shape: shape as Shape, label: `mark.chess.${letter}` as Key };
}

/** Returns what white and black have captured: what the other side had and has no longer. */
function capturedBy(placement: string): [Captured, Captured] {
  const count = (letter: string): number => placement.split(letter).length - 1;
  const worth = (side: 0 | 1): number =>
    Object.entries(WORTH).reduce(
      (sum, [shape, value]) => sum + value * count(cased(shape, side)),
      0,
    );
  const of = (side: 0 | 1): Captured => {
    const other = side === 0 ? 1 : 0;
    const shapes = Object.entries(COUNT).flatMap(([shape, number]) =>
      Array<Shape>(Math.max(0, number - count(cased(shape, other)))).fill(shape as Shape),
    );
    return { shapes, lead: Math.max(0, worth(side) - worth(other)) };
  };
  return [of(0), of(1)];
}

function cased(shape: string, side: 0 | 1): string {
  return side === 0 ? shape.toUpperCase() : shape;
}
