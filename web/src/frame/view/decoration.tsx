import type { Board } from '../boards/types';

/** The dots at the corners of the inner squares of a reversi board. */
export function Dots() {
  return [25, 75].flatMap((x) =>
    [25, 75].map((y) => (
      <i key={`${x}-${y}`} class="pip" style={{ left: `${x}%`, top: `${y}%` }} />
    )),
  );
}

/** The lines of a tic-tac-toe board, and the stroke through a winning line. */
export function Hash({ board }: { board: Board }) {
  const line = board.rows.flatMap((cells, row) =>
    cells.flatMap((cell, column) => (cell.highlight === 'line' ? [{ row, column }] : [])),
  );
  const [first, last] = [line[0], line.at(-1)];
  const at = (place: { row: number; column: number }): string =>
    `${16.7 + place.column * 33.3} ${16.7 + place.row * 33.3}`;
  return (
    <>
      {first !== undefined && last !== undefined && (
        <svg class="strike" viewBox="0 0 100 100" aria-hidden="true">
          <path class="draw" pathLength="1" d={`M${at(first)} ${at(last)}`} />
        </svg>
      )}
      <svg class="hash" viewBox="0 0 100 100" aria-hidden="true">
        <path d="M33.3 4v92M66.7 4v92M4 33.3h92M4 66.7h92" />
      </svg>
    </>
  );
}
