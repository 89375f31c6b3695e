import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../design/button';
import { promotionKey } from '../boards/promotion';
import type { Shape } from '../boards/types';
import { MarkView } from './mark';
import type { MoveEntry } from './move-entry';
import { useSpeaker } from './words';

export interface ChoicesProps {
  entry: MoveEntry;
  side: 0 | 1;
  onMove(move: string): void;
}

/** A button for each piece that a pawn can become. The first one takes the focus. */
export function Choices({ entry, side, onMove }: ChoicesProps) {
  const speaker = useSpeaker();
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), [entry.choices[0]]);
  return (
    <div class="veil">
      <div
        class="card"
        role="group"
        aria-label={speaker.say('promote.title')}
        onKeyDown={(event) => event.key === 'Escape' && entry.cancel()}
      >
        <h2>{speaker.say('promote.title')}</h2>
        <p>{speaker.say('promote.hint')}</p>
        <div class="pick">
          {entry.choices.map((move, index) => (
            <Button
              key={move}
              {...(index === 0 ? { focus: first } : {})}
              onPress={() => onMove(move)}
            >
              <MarkView gameId="chess" side={side} shape={move.slice(4) as Shape} />
              {speaker.say(promotionKey(move) ?? 'piece.q')}
            </Button>
          ))}
        </div>
      </div>
    </div>
  );
}
