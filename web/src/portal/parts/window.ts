/** Which rows of a long table are drawn. All functions are pure. */

/** Rows that are drawn above and below the visible ones, so that the Tab key finds the next row. */
const SPARE = 12;
/** A table with no more rows than this is drawn whole. */
export const WHOLE_MAX = 200;

export interface Shown {
  first: number;
  /** The row after the last one that is drawn. */
  end: number;
  /** Pixels of the rows that are not drawn. */
  above: number;
  below: number;
}

/** Returns the pixels from the table's top to a row. `heights`: the pixels of each row. */
export const offsetOf = (heights: readonly number[], row: number): number =>
  heights.slice(0, row).reduce((sum, height) => sum + height, 0);

/**
 * Returns the rows to draw. `heights`: the pixels of each row, with what is open under it. `top` is
 * where the visible part begins, in pixels from the table's top, and may be negative. `height` is
 * how high it is.
 */
export function rowsShown(heights: readonly number[], top: number, height: number): Shown {
  const total = heights.length;
  if (total <= WHOLE_MAX) return { first: 0, end: total, above: 0, below: 0 };
  // `begin`: how many rows end above the visible part; `behind`: how many end above its lower edge.
  let [whole, begin, behind] = [0, 0, 0];
  for (const row of heights) {
    whole += row;
    if (whole <= top) begin += 1;
    if (whole <= top + height) behind += 1;
  }
  const first = Math.max(begin - SPARE, 0);
  const end = Math.min(behind + 1 + SPARE, total);
  return {
    first,
    end,
    above: offsetOf(heights, first),
    below: whole - offsetOf(heights, end),
  };
}
