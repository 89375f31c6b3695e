/** The board of a match, to step through. Loaded after the rest of the page. */

import { useEffect, useState } from 'preact/hooks';
import { adapterOf, loadGame } from '../../frame/boards/index';
import type { Cell, Mark, Shape } from '../../frame/boards/types';
import type { Api } from '../api';
import { Problem } from '../page';
import { many } from '../parts/format';
import { Icon } from '../parts/icon';
import type { Life, Match, Move } from './match';

/** Pieces of chess: white ones, then black ones. */
const MEN: Partial<Record<Shape, readonly [string, string]>> = {
  k: ['♔', '♚'],
  q: ['♕', '♛'],
  r: ['♖', '♜'],
  b: ['♗', '♝'],
  n: ['♘', '♞'],
  p: ['♙', '♟'],
};

/** Sides differ in shape, not in colour alone: a disc and a ring, a cross and a nought. */
export function Piece({ mark }: { mark: Mark }) {
  const men = MEN[mark.shape];
  if (men !== undefined) {
    return (
      <text x="5" y="8" class="man">
        {men[mark.side]}
      </text>
    );
  }
  if (mark.shape === 'x') return <path class="cross" d="M2.5 2.5l5 5M7.5 2.5l-5 5" />;
  if (mark.shape === 'o') return <circle class="ring" cx="5" cy="5" r="2.7" />;
  if (mark.side === 0) return <circle class="full" cx="5" cy="5" r="3.8" />;
  return (
    <>
      <circle class="ring" cx="5" cy="5" r="3.3" />
      <circle class="dot" cx="5" cy="5" r="1.1" />
    </>
  );
}

function Square({ cell, x, y }: { cell: Cell; x: number; y: number }) {
  const look = ['cell', cell.dark ? 'dark' : '', cell.last ? 'last' : '', cell.highlight ?? ''];
  return (
    <g transform={`translate(${x * 10} ${y * 10})`}>
      <rect class={look.join(' ')} x="0.3" y="0.3" width="9.4" height="9.4" rx="1" />
      {cell.mark !== null && <Piece mark={cell.mark} />}
    </g>
  );
}

/** What is on the board, in words, for people who do not see it. */
function inWords(rows: readonly Cell[][], match: Match): string {
  const cells = rows.flat();
  const said = match.seats.map((seat, side) => {
    const own = cells.filter((cell) => cell.mark?.side === side);
    const named = own.map((cell) =>
      MEN[cell.mark!.shape] === undefined ? cell.id : `${cell.mark!.shape} ${cell.id}`,
    );
    return `${seat.playerId}: ${named.join(', ') || 'nothing'}`;
  });
  return said.join('. ');
}

interface DrawnProps {
  match: Match;
  state: unknown;
  move: string | null;
  label: string;
}

export function Drawn({ match, state, move, label }: DrawnProps) {
  const adapter = adapterOf(match.gameId);
  const board = adapter?.board(state, 0, move) ?? null;
  if (adapter === null || board === null) return <p>The pages cannot draw this game.</p>;
  return (
    <svg
      class="board"
      viewBox={`0 0 ${adapter.columns * 10} ${adapter.rows * 10}`}
      role="img"
      aria-label={`${label}. ${inWords(board.rows, match)}`}
    >
      {board.rows.map((row, y) =>
        row.map((cell, x) => <Square key={cell.id} cell={cell} x={x} y={y} />),
      )}
    </svg>
  );
}

function saidOf(match: Match, moves: readonly Move[], at: number): string {
  const move = moves[at - 1];
  if (moves.length === 0) return 'No move was played';
  if (move === undefined) return `Before the first of ${many(moves.length, 'move')}`;
  const player = match.seats[move.side]?.playerId ?? '';
  return `Move ${at} of ${moves.length}: ${player} plays ${move.move}`;
}

function Steps({ at, last, go }: { at: number; last: number; go(to: number): void }) {
  return (
    <div class="row stepper" role="group" aria-label="Steps">
      <button
        type="button"
        class="btn sq"
        aria-label="One move back"
        disabled={at === 0}
        onClick={() => go(at - 1)}
      >
        <Icon name="left" />
      </button>
      <input
        type="range"
        class="grow"
        aria-label="Move"
        min={0}
        max={last}
        value={at}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="btn sq"
        aria-label="One move on"
        disabled={at === last}
        onClick={() => go(at + 1)}
      >
        <Icon name="right" />
      </button>
    </div>
  );
}

export default function Board({ api, match }: { api: Api; match: Match }) {
  const [life, set] = useState<Life | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [at, go] = useState(0);
  const { matchId, gameId, environment, status } = match;
  useEffect(() => {
    const query = `environment=${environment}&states=true`;
    const reading = api.read<Life>(`matches/${encodeURIComponent(matchId)}?${query}`);
    // The board is drawn here, so the style sheet of the frame's game is not needed.
    Promise.all([reading, loadGame(gameId, () => {})]).then(([read]) => {
      set(read);
      go(read.moves.length);
    }, setError);
  }, [api, matchId, gameId, environment, status]);
  if (error !== null) return <Problem error={error} />;
  if (life === null) return <p class="quiet small">Setting up the board …</p>;
  const { moves, states } = life;
  if (states === undefined) return <p class="quiet small">This game is not installed any more.</p>;
  const said = saidOf(match, moves, at);
  return (
    <>
      <Drawn match={match} state={states[at]} move={moves[at - 1]?.move ?? null} label={said} />
      <output class="small" aria-live="polite">
        {said}
      </output>
      {moves.length > 0 && <Steps at={at} last={moves.length} go={go} />}
    </>
  );
}
