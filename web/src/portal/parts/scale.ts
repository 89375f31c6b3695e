/** The axis of a chart. */

const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** How many lines an axis has above zero. */
export const LINES = 4;

/**
 * Returns the distance between two lines of an axis whose last line is at or above `most`. It is a
 * whole number, and round.
 */
export function stepFor(most: number): number {
  const least = Math.max(1, most / LINES);
  const power = 10 ** Math.floor(Math.log10(least));
  const found = STEPS.map((step) => step * power).find(
    (step) => step >= least && Number.isInteger(step),
  );
  return found ?? 10 * power;
}
