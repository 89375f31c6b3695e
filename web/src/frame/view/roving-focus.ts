import { useRef, useState } from 'preact/hooks';

export interface Place {
  row: number;
  column: number;
}

/**
 * Moves the focus through a grid by keyboard. Only the cell at `place` is a tab stop (ARIA
 * Authoring Practices, "roving tabindex"): the cell that was used last, while the focus is in the
 * grid, and otherwise `first`. Each cell must have a `data-at` of `<row>-<column>`, counted from 0.
 */
export function useRovingFocus(rows: number, columns: number, first: Place) {
  const [used, setPlace] = useState<Place | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const hasFocus = grid.current?.contains(document.activeElement) ?? false;
  const place = hasFocus && used !== null ? used : first;

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

/** Returns the place nearest to the middle for which `holds` is true, or else the middle. */
export function nearestPlace(
  rows: number,
  columns: number,
  holds: (place: Place) => boolean,
): Place {
  const middle = { row: (rows - 1) / 2, column: (columns - 1) / 2 };
  const distance = ({ row, column }: Place): number =>
    Math.hypot(row - middle.row, column - middle.column);
  let best: Place | null = null;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const place = { row, column };
      if (holds(place) && (best === null || distance(place) < distance(best))) best = place;
    }
  }
  return best ?? { row: Math.floor(rows / 2), column: Math.floor(columns / 2) };
}
