import type { Adapter, Board } from '../boards/types';

interface DecorationProps {
  adapter: Adapter;
  board: Board;
  /** Whether the player has won, which is celebrated once. */
  won: boolean;
}

/** What a board shows besides its cells: lines, dots, a winning line, confetti. */
export function Decoration({ adapter, board, won }: DecorationProps) {
  return (
    <>
      {adapter.gameId === 'tic-tac-toe' && <Hash board={board} />}
      {adapter.gameId === 'reversi' &&
        [25, 75].flatMap((x) =>
          [25, 75].map((y) => (
            <i key={`${x}-${y}`} class="pip" style={{ left: `${x}%`, top: `${y}%` }} />
          )),
        )}
      {won && <Bits />}
    </>
  );
}

function Hash({ board }: { board: Board }) {
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

const COUNT = 22;

function Bits() {
  const bits = Array.from({ length: COUNT }, (_, at) => {
    const angle = (at / COUNT) * 2 * Math.PI + (at % 3) * 0.2;
    const reach = 34 + ((at * 37) % 22);
    return {
      '--dx': `${Math.cos(angle) * reach}cqmin`,
      '--dy': `${Math.sin(angle) * reach - 6}cqmin`,
      '--rot': `${(at * 77) % 360}deg`,
      '--t': `${(at * 13) % 90}ms`,
    };
  });
  return (
    <div class="bits" aria-hidden="true">
      {bits.map((style, at) => (
        <i key={at} class={`bit${at % 3}`} style={style} />
      ))}
    </div>
  );
}
