/** Which rows of a long table are drawn. All functions are pure. */

/** Rows that are drawn above and below the visible ones, so that the Tab key finds the next row. */
const SPARE = 12;
/** A table with no more rows than this is drawn whole. */
export const WHOLE_MAX = 200;

export interface Opened {
  /** The row under which something is open. */
  index: number;
  /** In pixels. */
  height: number;
}

export interface Shown {
  first: number;
  /** The row after the last one that is drawn. */
  end: number;
  /** Pixels of the rows that are not drawn. */
  above: number;
  below: number;
}

/** Returns the pixels from the table's top to a row. */
export function offsetOf(row: number, rowHeight: number, opened: Opened | null): number {
  const extra = opened !== null && row > opened.index ? opened.height : 0;
  return row * rowHeight + extra;
}

function rowAt(pixels: number, rowHeight: number, opened: Opened | null): number {
  if (opened === null) return Math.floor(pixels / rowHeight);
  const under = (opened.index + 1) * rowHeight;
  if (pixels < under) return Math.floor(pixels / rowHeight);
  return Math.max(opened.index, Math.floor((pixels - opened.height) / rowHeight));
}

/**
 * Returns the rows to draw of `total`. `top` is where the visible part begins, in pixels from the
 * table's top, and may be negative. `height` is how high it is.
 */
export function rowsShown(
  total: number,
  rowHeight: number,
  top: number,
  height: number,
  opened: Opened | null = null,
): Shown {
  if (total <= WHOLE_MAX) return { first: 0, end: total, above: 0, below: 0 };
  const within = (row: number) => Math.min(Math.max(row, 0), total);
  const first = within(rowAt(top, rowHeight, opened) - SPARE);
  const end = Math.max(first, within(rowAt(top + height, rowHeight, opened) + 1 + SPARE));
  const whole = offsetOf(total, rowHeight, opened);
  return {
    first,
    end,
    above: offsetOf(first, rowHeight, opened),
    below: whole - offsetOf(end, rowHeight, opened),
  };
}
