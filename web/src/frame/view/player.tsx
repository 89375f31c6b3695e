import { useEffect, useState } from 'preact/hooks';
import { adapterOf } from '../boards';
import { timeLeft } from '../play';
import type { Match, Play } from '../play';
import type { Side } from '../protocol';
import { clockText, opponentName } from '../words';

const TICK_MS = 200;
/** With less time than this, a running clock is emphasised. */
const LOW_MS = 10_000;

interface PlayerProps {
  play: Play;
  match: Match;
  side: Side;
}

/** One player's line: whether they are online, their name, their side and their clock. */
export function Player({ play, match, side }: PlayerProps) {
  const you = side === match.you;
  const online = you ? play.socket.kind === 'open' : (match.opponent.connected ?? false);
  const toMove = play.ending === null && match.turn === side;
  const sideName = adapterOf(match.gameId)?.sides[side] ?? '';
  return (
    <div class={`player side${side}${toMove ? ' to-move' : ''}`}>
      <span class={`dot ${online ? 'online' : 'offline'}`} aria-hidden="true" />
      <span class="who">
        <span class="name">{you ? (play.session?.displayName ?? 'You') : opponentName(match)}</span>
        <span class="detail">
          {sideName}
          {you ? ' · you' : ''} · {online ? 'online' : 'offline'}
        </span>
      </span>
      <Clock play={play} match={match} side={side} />
    </div>
  );
}

/** The time that a side has left. It counts down while that side is to move. */
function Clock({ play, match, side }: PlayerProps) {
  const [, tick] = useState(0);
  const left = timeLeft(play, side, Date.now());
  const runs = left !== null && match.turn === side && typeof match.deadlineAtMs === 'number';
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [runs]);
  if (left === null) return null;
  const text = clockText(left);
  const low = runs && left < LOW_MS;
  return (
    <span class={low ? 'clock low' : 'clock'} role="timer" aria-label={`${text} left`}>
      {text}
    </span>
  );
}
