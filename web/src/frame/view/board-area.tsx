import type { ComponentChildren } from 'preact';
import type { Adapter } from '../boards/types';
import type { Controller } from '../controller';
import type { Published } from '../published';
import { shownMatch } from '../history';
import { mayMove } from '../play';
import { Grid } from './grid';
import { ResignCard } from './resign-card';

interface BoardAreaProps {
  published: Published;
  controller: Controller;
  adapter: Adapter | null;
  /** Whether the player is asked about resigning. */
  asks: boolean;
  onAnswer(): void;
  /** The card that lies on the board, if there is one. */
  children: ComponentChildren;
}

/** The place of the board. A card lies on it when something has to be asked or awaited. */
export function BoardArea({
  published,
  controller,
  adapter,
  asks,
  onAnswer,
  children,
}: BoardAreaProps) {
  const { play, past } = published;
  const { ending } = play;
  const match = shownMatch(play, past);
  const covered = Boolean(children);
  const state = match?.state ?? adapter?.start;
  const last = match?.lastMove?.move ?? null;
  const board = adapter?.board(state, match?.you ?? 0, last) ?? null;
  const off = match !== null && ending === null && play.socket.kind !== 'open';
  const old = past !== null && 'past';
  const classes = ['board-area', (covered || asks) && 'dim', off && 'soft', old];
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      {adapter !== null && board !== null && (
        <Grid
          // Each game needs a new grid, because a grid calls the hooks of its adapter.
          key={adapter.gameId + (match?.matchId ?? '')}
          adapter={adapter}
          board={board}
          match={match}
          active={mayMove(play) && !asks && !old}
          inert={match === null || covered || asks}
          won={ending?.result === 'won' && !old}
          onMove={(move) => controller.move(move)}
          onRefuse={() => controller.refusePress()}
        />
      )}
      {children}
      {asks && match !== null && (
        <ResignCard
          play={play}
          match={match}
          onAnswer={(resigns) => {
            onAnswer();
            if (resigns) controller.resign();
          }}
        />
      )}
    </div>
  );
}
