import { useEffect, useRef, useState } from 'preact/hooks';
import { adapterOf } from '../boards';
import type { Adapter } from '../boards/types';
import type { Controller } from '../controller';
import type { Published } from '../published';
import { isRunning } from '../play';
import { cueOf } from '../sound-cues';
import { isSoundKept, keepSound } from '../sound-choice';
import { showTheme } from '../theme';
import { Bar } from './bar';
import { Card, cardOf } from './card';
import { Dock } from './dock';
import { Moves } from './moves';
import { Plate } from './plate';
import { Sums } from './sums';
import { useHeight, useKeptFocus, useSteps } from './hooks';
import { BoardArea } from './board-area';
import { setLocale } from './locale';

interface FrameProps {
  controller: Controller;
  /** Whether there is a page around the frame. */
  framed: boolean;
}

/** Everything that the player sees. Board, plates and dock stay in their places in every state. */
export function Frame({ controller, framed }: FrameProps) {
  const [published, show] = useState(controller.published);
  useEffect(() => controller.subscribe(show), [controller]);
  const [resigning, setResigning] = useState<string | null>(null);
  const app = useRef<HTMLElement>(null);
  const { play, locale } = published;
  setLocale(locale);
  const sound = useSound(published);
  useTheme(published);
  useHeight(app, (height) => controller.needsHeight(height));
  useKeptFocus(app);
  useSteps(controller);

  const gameId = play.match?.gameId ?? play.session?.gameId ?? '';
  const adapter = adapterOf(gameId);
  const asks = resigning !== null && resigning === play.match?.matchId && isRunning(play);
  const card = cardOf(play, framed, adapter);
  const classes = ['page', adapter && `g-${adapter.gameId}`, play.ending && 'ended'];
  return (
    <main class="app" ref={app}>
      <div class={classes.filter(Boolean).join(' ')} style={ratioOf(adapter)}>
        <div class="table">
          <Plate play={play} own={false} />
          <BoardArea
            published={published}
            controller={controller}
            adapter={adapter}
            asks={asks}
            onAnswer={() => setResigning(null)}
          >
            {card !== null && <Card texts={card} published={published} controller={controller} />}
          </BoardArea>
          <Plate play={play} own />
          <Sums play={play} class="money" />
          <Moves published={published} controller={controller} />
          <Dock
            published={published}
            controller={controller}
            inert={asks}
            silent={card !== null}
            onResign={() => setResigning(play.match?.matchId ?? null)}
          />
        </div>
        {/* After the board, so that the first focus stands on a playable cell. */}
        <Bar published={published} controller={controller} sound={sound} inert={asks} />
      </div>
      <div class="unseen" role="log" aria-live="polite">
        {published.announced.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </main>
  );
}

function ratioOf(adapter: Adapter | null) {
  const { columns, rows } = adapter ?? { columns: 1, rows: 1 };
  return { '--cols': columns, '--rows': rows, '--ratio': columns / rows };
}

function useTheme({ play, locale }: Published): void {
  const theme = play.session?.theme;
  useEffect(() => {
    showTheme(theme);
    document.title = theme?.displayName ?? locale.text('game');
    document.documentElement.lang = locale.tag;
    document.documentElement.dir = locale.direction;
  }, [theme, locale]);
}

export interface Sound {
  on: boolean;
  toggle(): void;
}

/** Sounds are off until the player asks for them. They are loaded then. The choice is kept. */
function useSound(published: Published): Sound {
  const [on, setOn] = useState(isSoundKept);
  const before = useRef(published);
  useEffect(() => {
    const cue = cueOf(before.current, published, document.hidden);
    before.current = published;
    if (on && cue !== null) void import('../sound').then(({ play }) => play(cue)).catch(() => {});
  }, [published]);
  const toggle = (): void => {
    setOn(!on);
    keepSound(!on);
    if (!on) void import('../sound').then(({ play }) => play('place')).catch(() => {});
  };
  return { on, toggle };
}
