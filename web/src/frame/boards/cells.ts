/** What the adapters of all games use to read states. */

/** The one legal move of a side that must pass. */
export const PASS = 'pass';

/** Returns a cell's id. Column and row are counted from 0: (0, 0) is `a1`. */
export function cellId(column: number, row: number): string {
  return `${String.fromCharCode(97 + column)}${row + 1}`;
}

/** Returns a field of a state, or undefined if the state is not an object or lacks the field. */
export function field(state: unknown, name: string): unknown {
  if (typeof state !== 'object' || state === null) return undefined;
  return (state as Record<string, unknown>)[name];
}
