/** The board of any game: a grid with one tab stop, which the arrow keys move. */

import type { Adapter, Board, Cell } from '../boards/types';
import type { Match } from '../play';
import { useLocale } from './locale';
import { MarkView } from './mark';
import { useMoveEntry } from './move-entry';
import type { MoveEntry } from './move-entry';
import { Bits } from './bits';
import { nearestPlace, useRovingFocus } from './roving-focus';

export interface GridProps {
  adapter: Adapter;
  board: Board;
  /** The match, or null while none has started. */
  match: Match | null;
  /** Whether the player may move now. */
  active: boolean;
  /** Whether something lies on the board that must be answered first. */
  inert: boolean;
  /** Whether the player has won. */
  won: boolean;
  onMove(move: string): void;
  onRefuse(): void;
}

/** The same list each time: a new one would look like a change of the legal moves. */
const NONE: readonly string[] = [];

export function Grid(props: GridProps) {
  const { adapter, board, match, active, inert, won, onMove, onRefuse } = props;
  const locale = useLocale();
  const legalMoves = match?.legalMoves ?? NONE;
  const entry = useMoveEntry({ adapter, legalMoves, active, onMove, onRefuse });
  const { Choices, Columns, Decoration } = adapter;
  const rows = Columns ? 1 : adapter.rows;
  const idAt = (row: number, column: number): string => board.rows[row]?.[column]?.id ?? '';
  const first = nearestPlace(rows, adapter.columns, ({ row, column }) =>
    entry.isPlayable(idAt(row, column)),
  );
  const focus = useRovingFocus(rows, adapter.columns, first);
  const asks = entry.choices.length > 0;
  const drag = adapter.useDrag?.(entry, asks);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape') entry.cancel();
    else if (!focus.onKey(event.key)) return;
    event.preventDefault();
  };
  const game = locale.text(`game.${adapter.gameId}`);
  const shared = { board, match, entry, focus, you: match?.you ?? 0 } as const;
  return (
    <>
      <div
        ref={focus.grid}
        class={`board ${adapter.gameId}${asks ? ' asks' : ''}`}
        role={Columns ? 'group' : 'grid'}
        aria-label={locale.text('board', { game })}
        inert={inert || asks}
        onKeyDown={onKeyDown}
        {...drag?.listeners}
      >
        {Columns !== undefined ? (
          <Columns adapter={adapter} {...shared} />
        ) : (
          board.rows.map((cells, row) => (
            <div role="row" class="row" key={cells[0]?.id}>
              {cells.map((cell, column) => (
                <Square
                  key={cell.id}
                  adapter={adapter}
                  cell={cell}
                  place={{ row, column }}
                  dropped={drag?.dropped.current ?? ''}
                  {...shared}
                />
              ))}
            </div>
          ))
        )}
        {Decoration !== undefined && <Decoration board={board} />}
        {won && <Bits />}
      </div>
      {asks && Choices && <Choices entry={entry} side={match?.you ?? 0} onMove={onMove} />}
    </>
  );
}

interface SquareProps {
  adapter: Adapter;
  cell: Cell;
  place: { row: number; column: number };
  match: Match | null;
  entry: MoveEntry;
  focus: ReturnType<typeof useRovingFocus>;
  you: 0 | 1;
  /** The id of the cell where the player has dropped a piece. The piece does not slide there. */
  dropped: string;
}

function Square(props: SquareProps) {
  const { adapter, cell, place, match, entry, focus, you, dropped } = props;
  const label = useLabel(cell, entry);
  const { row, column } = place;
  const target = entry.isTarget(cell.id);
  const classes = [
    'cell',
    cell.dark && 'dark',
    cell.last && 'last',
    cell.highlight,
    target && (cell.mark === null ? 'target' : 'target hit'),
    entry.isPlayable(cell.id) && 'can',
    cell.id === entry.picked && 'held',
  ];
  const ghost = target && adapter.sources === undefined;
  return (
    <button
      type="button"
      role="gridcell"
      class={classes.filter(Boolean).join(' ')}
      data-at={`${row}-${column}`}
      data-cell={cell.id}
      tabIndex={row === focus.place.row && column === focus.place.column ? 0 : -1}
      aria-label={label}
      aria-disabled={!entry.isPlayable(cell.id)}
      onFocus={() => focus.setPlace(place)}
      // The second press of a double click is ignored. Otherwise it would place another disc if the
      // opponent has moved between the two.
      onClick={({ detail }) => (detail < 2 || adapter.sources) && entry.press(cell.id)}
    >
      {cell.mark !== null && (
        <Moving
          gameId={adapter.gameId}
          cell={cell}
          match={match}
          place={place}
          slides={match?.lastMove?.by !== you || dropped !== cell.id}
        />
      )}
      {cell.mark === null && ghost && (
        <MarkView gameId={adapter.gameId} side={you} shape={adapter.sign(you)} class="ghost" />
      )}
      {/* The style sheet writes the coordinates, so that screen readers do not add them. */}
      {row === adapter.rows - 1 && <span class="co" data-text={cell.id[0]} />}
      {column === 0 && <span class="co rank" data-text={cell.id[1]} />}
    </button>
  );
}

interface MovingProps {
  gameId: string;
  cell: Cell;
  match: Match | null;
  place: { row: number; column: number };
  /** Whether the mark visibly slides to its place. */
  slides: boolean;
}

/** The mark on a cell. The marks of the last move slide into place if this frame saw that move. */
function Moving({ gameId, cell, match, place, slides }: MovingProps) {
  const { mark } = cell;
  if (mark === null) return null;
  const drawn = { gameId, side: mark.side, shape: mark.shape };
  const { from } = cell;
  const moved = cell.last || from !== undefined;
  if (!moved || match === null || match.lastMove === null) return <MarkView {...drawn} />;
  if (from === undefined) {
    return <MarkView {...drawn} class={mark.shape === 'disc' ? 'put' : 'draw'} />;
  }
  const turned = match.you === 1;
  const column = from.charCodeAt(0) - 97;
  const row = 8 - Number(from[1]);
  const style = {
    '--fx': (turned ? 7 - column : column) - place.column,
    '--fy': (turned ? 7 - row : row) - place.row,
  };
  return <MarkView key={match.ply} {...drawn} class={slides ? 'slid' : ''} style={style} />;
}

function useLabel(cell: Cell, entry: MoveEntry): string {
  const locale = useLocale();
  const held = cell.id === entry.picked;
  const parts = [cell.id, locale.text(cell.mark?.label ?? 'cell.empty')];
  if (held) parts.push(locale.text('cell.held'));
  if (cell.highlight !== null) parts.push(locale.text(`cell.${cell.highlight}`));
  if (cell.last) parts.push(locale.text('cell.last'));
  if (!held && entry.isPlayable(cell.id)) parts.push(locale.text('cell.can'));
  return parts.join(', ');
}
