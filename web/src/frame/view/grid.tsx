/** The board of any game: a grid with one tab stop, which the arrow keys move. */

import { useEffect, useRef } from 'preact/hooks';
import type { Adapter, Board, Cell, Choice } from '../boards/types';
import { MarkView } from './mark';
import { useMoveEntry } from './move-entry';
import type { MoveEntry } from './move-entry';
import { useRovingFocus } from './roving-focus';

interface GridProps {
  adapter: Adapter;
  board: Board;
  legalMoves: readonly string[];
  /** Whether the player may move now. */
  active: boolean;
  /** The move that is being sent, or null. */
  pending: string | null;
  onMove(move: string): void;
}

export function Grid({ adapter, board, legalMoves, active, pending, onMove }: GridProps) {
  const { rows } = board;
  const columns = rows[0]?.length ?? 0;
  const focus = useRovingFocus(rows.length, columns);
  const entry = useMoveEntry({ adapter, legalMoves, active, onMove });
  const landing = pending === null ? null : adapter.landing(pending);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape') entry.cancel();
    else if (!focus.onKey(event.key)) return;
    event.preventDefault();
  };

  return (
    <>
      <div
        ref={focus.grid}
        class={`board ${adapter.gameId}`}
        role="grid"
        aria-label={`${adapter.name} board`}
        aria-readonly={!active}
        style={{ '--columns': columns, '--rows': rows.length }}
        onKeyDown={onKeyDown}
      >
        {rows.map((cells, row) => (
          <div role="row" class="row" key={cells[0]?.id}>
            {cells.map((cell, column) => (
              <Square
                key={cell.id}
                cell={cell}
                at={`${row}-${column}`}
                entry={entry}
                landing={cell.id === landing}
                tabStop={row === focus.place.row && column === focus.place.column}
                onFocus={() => focus.setPlace({ row, column })}
              />
            ))}
          </div>
        ))}
      </div>
      {adapter.choice !== undefined && entry.choices.length > 0 && (
        <Choices choice={adapter.choice} moves={entry.choices} onMove={onMove} />
      )}
    </>
  );
}

interface SquareProps {
  cell: Cell;
  at: string;
  entry: MoveEntry;
  landing: boolean;
  tabStop: boolean;
  onFocus(): void;
}

function Square({ cell, at, entry, landing, tabStop, onFocus }: SquareProps) {
  const classes = [
    'cell',
    cell.dark && 'dark',
    cell.last && 'last',
    cell.highlight?.kind,
    entry.isTarget(cell.id) && 'target',
    cell.id === entry.picked && 'picked',
    landing && 'landing',
  ];
  return (
    <button
      type="button"
      role="gridcell"
      class={classes.filter(Boolean).join(' ')}
      data-at={at}
      data-cell={cell.id}
      tabIndex={tabStop ? 0 : -1}
      aria-label={labelOf(cell, entry)}
      aria-disabled={!entry.isPlayable(cell.id)}
      onFocus={onFocus}
      onClick={() => entry.press(cell.id)}
    >
      {cell.mark && <MarkView mark={cell.mark} />}
    </button>
  );
}

function labelOf(cell: Cell, entry: MoveEntry): string {
  const picked = cell.id === entry.picked;
  const parts = [cell.id, cell.mark?.label ?? 'empty'];
  if (picked) parts.push('picked up');
  if (cell.highlight !== null) parts.push(cell.highlight.label);
  if (cell.last) parts.push('last move');
  if (!picked && entry.isPlayable(cell.id)) parts.push('playable');
  return parts.join(', ');
}

interface ChoicesProps {
  choice: Choice;
  moves: string[];
  onMove(move: string): void;
}

/** A button for each move between which the player must choose. The first one takes the focus. */
function Choices({ choice, moves, onMove }: ChoicesProps) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), [moves[0]]);
  return (
    <div class="choices" role="group" aria-label={choice.question}>
      {moves.map((move, index) => (
        <button
          type="button"
          class="button"
          key={move}
          ref={index === 0 ? first : null}
          onClick={() => onMove(move)}
        >
          {choice.label(move)}
        </button>
      ))}
    </div>
  );
}
