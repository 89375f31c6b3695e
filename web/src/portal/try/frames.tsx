/** The frames of the two test players, side by side. */

import { useEffect, useRef } from 'preact/hooks';

export interface Player {
  playerId: string;
  displayName: string;
  sessionToken: string;
  frameUrl: string;
}

/** What a frame reports about its match. */
export interface FrameNews {
  type: 'pgs.state' | 'pgs.ended' | 'pgs.error';
  status?: string;
  ply?: number;
  turn?: number;
  you?: number;
  result?: string;
  outcome?: string;
  reason?: string;
}

const NEWS = new Set<unknown>(['pgs.state', 'pgs.ended', 'pgs.error']);

/** The least and the most that a frame may ask for, in pixels. */
const HEIGHT_MIN = 320;
const HEIGHT_MAX = 900;

interface FrameProps {
  player: Player;
  onNews(player: Player, news: FrameNews): void;
}

/** A frame. It alone gets its player's token, once it says that it is ready. */
export function PlayerFrame({ player, onNews }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const tell = useRef(onNews);
  tell.current = onNews;
  useEffect(() => {
    const { origin } = new URL(player.frameUrl);
    const listen = (event: MessageEvent) => {
      const element = frame.current;
      if (!element || event.source !== element.contentWindow || event.origin !== origin) return;
      const message = (event.data ?? {}) as { type?: unknown; height?: unknown };
      if (message.type === 'pgs.ready') {
        const session = { type: 'pgs.session', sessionToken: player.sessionToken };
        element.contentWindow?.postMessage(session, origin);
      } else if (message.type === 'pgs.size' && typeof message.height === 'number') {
        const height = Math.min(HEIGHT_MAX, Math.max(HEIGHT_MIN, message.height));
        element.style.height = `${height}px`;
      } else if (NEWS.has(message.type)) {
        tell.current(player, message as FrameNews);
      }
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, [player]);
  return (
    <section class="card player" aria-label={player.displayName}>
      <header>
        <h2>{player.displayName}</h2>
        <span class="mono small quiet">{player.playerId}</span>
      </header>
      <iframe ref={frame} src={player.frameUrl} title={`The game of ${player.displayName}`} />
    </section>
  );
}
