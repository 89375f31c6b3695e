import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button';
import { Icon } from '../../design/icon';
import { amountsOf } from '../play';
import type { Match, Play } from '../play';
import { isClockRunning, opponentName } from '../sentences';
import { useLocale } from './locale';

/** The button that resigns works after this time, so that a double click does not press it. */
const SAFE_AFTER_MS = 400;

interface ResignCardProps {
  play: Play;
  match: Match;
  onAnswer(resigns: boolean): void;
}

/** Asks whether the player resigns, and names the loss. Escape and Enter cancel. */
export function ResignCard({ play, match, onAnswer }: ResignCardProps) {
  const locale = useLocale();
  const first = useRef<HTMLButtonElement>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    first.current?.focus();
    const timer = setTimeout(() => {
      setReady(true);
      // The second press of a double click takes the focus out of the card. Without the focus, the
      // card does not hear Escape.
      first.current?.focus();
    }, SAFE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const amounts = amountsOf(play);
  const name = opponentName(match, locale);
  const stake = amounts === null ? '' : locale.money(amounts.stake);
  const prize = amounts === null ? '' : locale.money(amounts.prize);
  const loss = amounts === null ? 'resign.plain' : 'resign.text';
  return (
    <div class="veil">
      <div
        class="card"
        role="alertdialog"
        aria-modal="true"
        aria-labelledby="resign-title"
        aria-describedby="resign-text"
        onKeyDown={(event) => event.key === 'Escape' && onAnswer(false)}
      >
        <Icon name="flag" />
        <h2 id="resign-title">{locale.text('resign.title')}</h2>
        <p id="resign-text">
          {locale.text(loss, { stake, name, prize })}{' '}
          {isClockRunning(match) && locale.text('resign.clock')}
        </p>
        <div class="acts">
          <Button kind="pri" focus={first} onPress={() => onAnswer(false)}>
            {locale.text('resign.no')}
          </Button>
          <Button kind="out" disabled={!ready} onPress={() => onAnswer(true)}>
            {locale.text(amounts === null ? 'resign.yesPlain' : 'resign.yes', {
              stake,
            })}
          </Button>
        </div>
      </div>
    </div>
  );
}
