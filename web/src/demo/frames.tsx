/** The players' frames, mounted with the service's helper. */

import { useEffect, useRef } from 'preact/hooks';
import { mint } from './backend';

/** A message of a frame to the page. */
export interface Heard {
  number: number;
  atMs: number;
  player: string;
  message: { type: string; reason?: string };
}

interface Helper {
  mount(element: Element, options: object): { unmount(): void };
}

/** The helper, or undefined if the service has none because its frame was not built. */
export const helper = () => (window as { PgsEmbed?: Helper }).PgsEmbed;

interface SeatProps {
  gameId: string;
  player: number;
  name: string;
  onHeard(name: string, message: Heard['message']): void;
  onAgain(): void;
}

export function Seat({ gameId, player, name, onHeard, onAgain }: SeatProps) {
  const place = useRef<HTMLDivElement>(null);
  const calls = useRef({ onHeard, onAgain });
  calls.current = { onHeard, onAgain };
  useEffect(() => {
    const keep = (message: Heard['message']) => calls.current.onHeard(name, message);
    const frame = helper()?.mount(place.current!, {
      session: () => mint(gameId, player),
      title: `${name}'s game`,
      height: 'clamp(30rem, 85vh, 42.5rem)',
      onReady: keep,
      onState: keep,
      onEnded: keep,
      onError: keep,
      onAgain: (message: Heard['message']) => {
        keep(message);
        calls.current.onAgain();
      },
    });
    return () => frame?.unmount();
  }, [gameId, player, name]);
  return (
    <article aria-label={name}>
      <h2>{name}</h2>
      <div ref={place} />
    </article>
  );
}
