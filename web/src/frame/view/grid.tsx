/** One board, whatever the game: a grid with one tab stop, moved through with the arrow keys. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Adapter, Board, Cell } from '../boards/types';
import { MarkView } from './mark';

interface Props {
  adapter: Adapter;
  board: Board;
  legalMoves: readonly string[];
  active: boolean;
  pending: string | null;
  onMove(move: string): void;
}

export function Grid({ adapter, board, legalMoves, active, pending, onMove }: Props) {
  const rows = board.rows;
  const width = rows[0]?.length ?? 0;
  const [at, setAt] = useState({ row: Math.floor(rows.length / 2), column: Math.floor(width / 2) });
  const [picked, setPicked] = useState<string | null>(null);
  const [choices, setChoices] = useState<string[]>([]);
  const grid = useRef<HTMLDivElement>(null);
  const moves = active ? legalMoves : [];
  const sources = adapter.sources?.(moves);
  const held = picked !== null && sources?.has(picked) ? picked : null;
  const targets = adapter.targets(moves, held);
  const offered = active ? choices.filter((move) => legalMoves.includes(move)) : [];

  useEffect(() => setChoices([]), [legalMoves]);

  const press = (cell: Cell) => {
    if (!active) return;
    const meant = targets.get(cell.id) ?? [];
    setChoices([]);
    if (meant.length > 1) setChoices(meant);
    else if (meant[0] !== undefined) {
      setPicked(null);
      onMove(meant[0]);
    } else setPicked(sources?.has(cell.id) && cell.id !== held ? cell.id : null);
  };

  const go = (row: number, column: number) => {
    const next = { row: Math.max(0, Math.min(rows.length - 1, row)), column: Math.max(0, Math.min(width - 1, column)) };
    setAt(next);
    grid.current?.querySelector<HTMLElement>(`[data-at="${next.row}-${next.column}"]`)?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = at;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'ArrowUp') go(row - 1, column);
    else if (event.key === 'ArrowDown') go(row + 1, column);
    else if (event.key === 'ArrowLeft') go(row, column - 1);
    else if (event.key === 'ArrowRight') go(row, column + 1);
    else if (event.key === 'Home') go(row, 0);
    else if (event.key === 'End') go(row, width - 1);
    else if (event.key === 'Escape') {
      setPicked(null);
      setChoices([]);
    } else return;
    event.preventDefault();
  };

  const landing = new Set(pending === null ? [] : adapter.sources ? [pending.slice(2, 4)] : [pending]);

  return (
    <>
      <div
        ref={grid}
        class={`board ${adapter.kind}`}
        role="grid"
        aria-label={`${adapter.name} board`}
        aria-readonly={!active}
        style={{ '--columns': width, '--rows': rows.length }}
        onKeyDown={onKeyDown}
      >
        {rows.map((row, down) => (
          <div role="row" class="row" key={row[0]?.id}>
            {row.map((cell, along) => {
              const can = targets.has(cell.id) || (sources?.has(cell.id) ?? false);
              const state = [
                'cell',
                cell.dark ? 'dark' : '',
                cell.last ? 'last' : '',
                cell.line ? 'line' : '',
                cell.alert ? 'alert' : '',
                targets.has(cell.id) ? 'target' : '',
                cell.id === held ? 'picked' : '',
                landing.has(cell.id) ? 'landing' : '',
              ];
              return (
                <button
                  type="button"
                  role="gridcell"
                  key={cell.id}
                  class={state.filter(Boolean).join(' ')}
                  data-at={`${down}-${along}`}
                  data-cell={cell.id}
                  tabIndex={down === at.row && along === at.column ? 0 : -1}
                  aria-label={label(cell, can, cell.id === held)}
                  aria-disabled={!can}
                  onFocus={() => setAt({ row: down, column: along })}
                  onClick={() => press(cell)}
                >
                  {cell.mark && <MarkView mark={cell.mark} />}
                </button>
              );
            })}
          </div>
        ))}
      </div>
      {offered.length > 1 && (
        <div class="choices" role="group" aria-label="Promote to">
          {offered.map((move, index) => (
            <Choice key={move} text={adapter.choice?.(move) ?? move} first={index === 0} onChoose={() => onMove(move)} />
          ))}
        </div>
      )}
    </>
  );
}

function Choice({ text, first, onChoose }: { text: string; first: boolean; onChoose(): void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (first) button.current?.focus();
  }, [first]);
  return (
    <button type="button" class="button" ref={button} onClick={onChoose}>
      {text}
    </button>
  );
}

function label(cell: Cell, can: boolean, held: boolean): string {
  const parts = [cell.id, cell.mark?.says ?? 'empty'];
  if (held) parts.push('picked up');
  if (cell.line) parts.push('winning line');
  if (cell.last) parts.push('last move');
  if (cell.alert) parts.push('in check');
  if (can && !held) parts.push('playable');
  return parts.join(', ');
}
