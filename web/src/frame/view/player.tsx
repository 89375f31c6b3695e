import { useEffect, useState } from 'preact/hooks';
import { adapterOf } from '../boards';
import { timeLeft } from '../play';
import type { Match, Play } from '../play';
import type { Side } from '../protocol';
import { clockText, opponentName } from '../words';

const TICK_MS = 200;
const LOW_MS = 10_000;

/** One player's line: mark, name, presence, time. */
export function Player({ play, match, side }: { play: Play; match: Match; side: Side }) {
  const own = side === match.you;
  const here = own ? play.link.kind === 'open' : (match.opponent.connected ?? false);
  const acting = play.ending === null && match.turn === side;
  const called = adapterOf(match.gameId)?.sides[side] ?? '';
  return (
    <div class={`player side${side}${acting ? ' acting' : ''}`}>
      <span class={`dot ${here ? 'here' : 'away'}`} aria-hidden="true" />
      <span class="who">
        <span class="name">{own ? (play.session?.displayName ?? 'You') : opponentName(match)}</span>
        <span class="detail">
          {called}
          {own ? ' · you' : ''} · {here ? 'online' : 'offline'}
        </span>
      </span>
      <Clock play={play} side={side} />
    </div>
  );
}

function Clock({ play, side }: { play: Play; side: Side }) {
  const [, tick] = useState(0);
  const left = timeLeft(play, side, Date.now());
  const runs = left !== null && play.match?.turn === side && typeof play.match.deadlineAtMs === 'number';
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [runs]);
  if (left === null) return null;
  return (
    <span class={`clock${runs && left < LOW_MS ? ' low' : ''}`} role="timer" aria-label={`${clockText(left)} left`}>
      {clockText(left)}
    </span>
  );
}
