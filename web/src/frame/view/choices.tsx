import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../design/button';
import { promotionKey } from '../boards/promotion';
import type { Shape } from '../boards/types';
import { MarkView } from './mark';
import type { MoveEntry } from './move-entry';
import { useLocale } from './locale';

export interface ChoicesProps {
  entry: MoveEntry;
  side: 0 | 1;
  onMove(move: string): void;
}

/** A button for each piece that a pawn can become. The first one takes the focus. */
export function Choices({ entry, side, onMove }: ChoicesProps) {
  const locale = useLocale();
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), [entry.choices[0]]);
  return (
    <div class="veil">
      <div
        class="card"
        role="group"
        aria-label={locale.text('promote.title')}
        onKeyDown={(event) => event.key === 'Escape' && entry.cancel()}
      >
        <h2>{locale.text('promote.title')}</h2>
        <p>{locale.text('promote.hint')}</p>
        <div class="pick">
          {entry.choices.map((move, index) => (
            <Button
              key={move}
              {...(index === 0 ? { focus: first } : {})}
              onPress={() => onMove(move)}
            >
              <MarkView gameId="chess" side={side} shape={move.slice(4) as Shape} />
              {locale.text(promotionKey(move) ?? 'piece.q')}
            </Button>
          ))}
        </div>
      </div>
    </div>
  );
}
