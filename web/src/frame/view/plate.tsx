import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../design/icon';
import { adapterOf } from '../boards';
import type { Adapter, Board } from '../boards/types';
import { LOW_MS, timeLeft } from '../play';
import type { Match, Play } from '../play';
import type { Side } from '../protocol';
import { incrementText, sideNameOf } from '../sentences';
import { isolated } from '../words/locale';
import { MarkView } from './mark';
import { useLocale } from './locale';

const TICK_MS = 100;
interface PlateProps {
  play: Play;
  /** Whether this is the player's own plate, and not the opponent's. */
  own: boolean;
}

/** One player: a face, the name, the side, the captured pieces or discs, and the clock. */
export function Plate({ play, own }: PlateProps) {
  const locale = useLocale();
  const { match } = play;
  const adapter = adapterOf(match?.gameId ?? '');
  const given = own ? play.session?.displayName : match?.opponent.displayName;
  const name = given ?? locale.text(own ? 'you' : 'opponent');
  const who = locale.text(own ? 'you' : 'opponent');
  if (!own && match === null) return <EmptyPlate waits={play.seat !== null} />;
  const side: Side | null = match === null ? null : own ? match.you : match.you === 0 ? 1 : 0;
  const acts = play.ending === null && match !== null && match.turn === side;
  const classes = ['plate', own ? 'own' : 'opp', acts && 'act'];
  const Count = adapter?.Count;
  const board = match && adapter?.board(match.state, match.you, null);
  return (
    <section class={classes.filter(Boolean).join(' ')} aria-label={who}>
      <Face name={name} adapter={adapter} side={side} />
      <span class="name" dir="auto">
        {name}
      </span>
      <span class="sub">
        <Sub play={play} own={own} side={side} board={board ?? null} />
      </span>
      {side !== null && board?.counts !== undefined && Count !== undefined && (
        <Count count={board.counts[side]} side={side} />
      )}
      {match !== null && side !== null && (
        <Clock key={match.matchId} play={play} match={match} side={side} />
      )}
    </section>
  );
}

function EmptyPlate({ waits }: { waits: boolean }) {
  const locale = useLocale();
  return (
    <section class="plate opp empty" aria-label={locale.text('opponent')}>
      <span class="face" />
      <span class="name">{locale.text(waits ? 'seat.open' : 'opponent')}</span>
      <span class="sub">{waits && <span>{locale.text('seat.nobody')}</span>}</span>
    </section>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0] ?? '', words.length > 1 ? (words.at(-1) ?? '') : ''];
  return letters.map((word) => [...word][0] ?? '').join('');
}

interface FaceProps {
  name: string;
  adapter: Adapter | null;
  side: Side | null;
}

function Face({ name, adapter, side }: FaceProps) {
  return (
    <span class="face" aria-hidden="true">
      {initialsOf(name)}
      {adapter !== null && side !== null && (
        <span class="side">
          <MarkView gameId={adapter.gameId} side={side} shape={adapter.sign(side)} />
        </span>
      )}
    </span>
  );
}

interface SubProps {
  play: Play;
  own: boolean;
  side: Side | null;
  board: Board | null;
}

/** The line below the name: that the player is away, or the side and what it has captured. */
function Sub({ play, own, side, board }: SubProps) {
  const locale = useLocale();
  const { match, ending } = play;
  if (match === null || side === null) return null;
  const here = own ? play.socket.kind === 'open' : (match.opponent.connected ?? false);
  if (!here && ending === null) {
    return (
      <span class="away">
        <Icon name="unplug" />
        {locale.text('away')}
      </span>
    );
  }
  const name = sideNameOf(match, side, locale);
  const captured = board?.captured?.[side];
  const count = captured?.shapes.length ?? 0;
  return (
    <>
      <span>{own ? locale.text('side.you', { side: isolated(name) }) : name}</span>
      {captured !== undefined && count > 0 && (
        <span class="captured" role="img" aria-label={locale.text('captured', { n: count })}>
          {captured.lead > 0 && <b>+{locale.number(captured.lead)}</b>}
          {captured.shapes.map((shape, at) => (
            <MarkView key={at} gameId="chess" side={side === 0 ? 1 : 0} shape={shape} />
          ))}
        </span>
      )}
    </>
  );
}

interface ClockProps {
  play: Play;
  match: Match;
  side: Side;
}

/**
 * The time that a side has left, and what each move adds to it. It counts down while that side is
 * to move. In a game with a clock for each side, the last time stays after the end.
 */
function Clock({ play, match, side }: ClockProps) {
  const locale = useLocale();
  const [, tick] = useState(0);
  const last = useRef<number | null>(null);
  const runs = play.ending === null && match.turn === side && match.deadlineAtMs != null;
  last.current = timeLeft(play, side, Date.now()) ?? (match.remainingMs ? last.current : null);
  const left = last.current;
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [runs]);
  if (left === null) return null;
  const text = locale.clock(left);
  const label = [locale.text('left', { time: text }), incrementText(match, locale)];
  const low = runs && left <= LOW_MS;
  return (
    <span
      class={low ? 'clock low' : 'clock'}
      role="timer"
      aria-label={label.filter(Boolean).join('. ')}
    >
      {low && <Icon name="alert" />}
      {left < LOW_MS ? locale.clock(left, 1) : text}
      {match.incrementMs ? <small>+{locale.number(match.incrementMs / 1000)}</small> : null}
    </span>
  );
}
