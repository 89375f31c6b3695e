import type { Adapter, Board, Cell } from '../boards/types';
import type { Match } from '../play';
import { MarkView } from './mark';
import type { MoveEntry } from './move-entry';
import type { useRovingFocus } from './roving-focus';
import { useLocale } from './locale';

export interface ColumnsProps {
  adapter: Adapter;
  board: Board;
  match: Match | null;
  entry: MoveEntry;
  focus: ReturnType<typeof useRovingFocus>;
  you: 0 | 1;
}

/** A board whose targets are its columns. A disc is shown where it would land. */
export function Columns({ adapter, board, match, entry, focus, you }: ColumnsProps) {
  const columns = Array.from({ length: adapter.columns }, (_, at) =>
    board.rows.map((row) => row[at]).filter((cell) => cell !== undefined),
  );
  const label = useColumnLabel();
  return columns.map((cells, column) => {
    const top = cells[0];
    if (top === undefined) return null;
    const free = cells.filter((cell) => cell.mark === null);
    const playable = entry.isPlayable(top.id);
    return (
      <button
        type="button"
        key={top.id}
        class={playable ? 'column can' : 'column'}
        data-at={`0-${column}`}
        data-column={column + 1}
        tabIndex={column === focus.place.column ? 0 : -1}
        aria-label={label(column, cells, playable)}
        aria-disabled={!playable}
        onFocus={() => focus.setPlace({ row: 0, column })}
        onClick={({ detail }) => detail < 2 && entry.press(top.id)}
      >
        {cells.map((cell, row) => (
          <span
            key={cell.id}
            class={['cell', cell.last && 'last', cell.highlight].filter(Boolean).join(' ')}
            data-cell={cell.id}
          >
            {cell.mark !== null && (
              <MarkView
                gameId={adapter.gameId}
                side={cell.mark.side}
                shape={cell.mark.shape}
                class={cell.last && match?.lastMove ? 'fall' : ''}
                style={{ '--n': row + 1 }}
              />
            )}
            {playable && cell === free.at(-1) && (
              <MarkView gameId={adapter.gameId} side={you} shape="disc" class="ghost" />
            )}
            {row === adapter.rows - 1 && <span class="co" data-text={column + 1} />}
          </span>
        ))}
      </button>
    );
  });
}

/** Returns a function that says a column: its number, its discs, and how many more it takes. */
function useColumnLabel() {
  const locale = useLocale();
  return (column: number, cells: Cell[], playable: boolean): string => {
    const marked = cells.filter((cell) => cell.mark !== null).reverse();
    const names = marked.map((cell) => {
      const name = locale.text(cell.mark?.label ?? 'cell.empty');
      if (cell.highlight !== null) return `${name} (${locale.text(`cell.${cell.highlight}`)})`;
      return cell.last ? `${name} (${locale.text('cell.last')})` : name;
    });
    const parts = [locale.text('column', { n: column + 1 })];
    if (names.length > 0) parts.push(locale.text('column.discs', { discs: names.join(', ') }));
    parts.push(locale.text('column.free', { n: cells.length - marked.length }));
    if (playable) parts.push(locale.text('cell.can'));
    return parts.join(', ');
  };
}
