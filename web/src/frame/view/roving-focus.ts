import { useRef, useState } from 'preact/hooks';

interface Place {
  row: number;
  column: number;
}

/**
 * Moves the focus through a grid by keyboard. Only the cell at `place` is a tab stop, at first the
 * one in the middle (ARIA Authoring Practices, "roving tabindex"). Each cell must have a `data-at`
 * of `<row>-<column>`, counted from 0.
 */
export function useRovingFocus(rows: number, columns: number) {
  const [place, setPlace] = useState<Place>({
    row: Math.floor(rows / 2),
    column: Math.floor(columns / 2),
  });
  const grid = useRef<HTMLDivElement>(null);

  const moveTo = (row: number, column: number): void => {
    const next = {
      row: Math.max(0, Math.min(rows - 1, row)),
      column: Math.max(0, Math.min(columns - 1, column)),
    };
    setPlace(next);
    grid.current?.querySelector<HTMLElement>(`[data-at="${next.row}-${next.column}"]`)?.focus();
  };

  /** Returns whether the key was one that moves the focus. */
  const onKey = (key: string): boolean => {
    const { row, column } = place;
    if (key === 'ArrowUp') moveTo(row - 1, column);
    else if (key === 'ArrowDown') moveTo(row + 1, column);
    else if (key === 'ArrowLeft') moveTo(row, column - 1);
    else if (key === 'ArrowRight') moveTo(row, column + 1);
    else if (key === 'Home') moveTo(row, 0);
    else if (key === 'End') moveTo(row, columns - 1);
    else return false;
    return true;
  };

  return { grid, place, setPlace, onKey };
}
