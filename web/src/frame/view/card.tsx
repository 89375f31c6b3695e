import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button';
import { Icon } from '../../design/icon';
import type { IconName } from '../../design/icon';
import type { Adapter } from '../boards/types';
import type { Controller } from '../controller';
import type { Published } from '../published';
import type { Play } from '../play';
import type { Waiting } from '../protocol';
import { stoppedTexts } from '../sentences';
import { useLocale } from './locale';

type Told = 'connecting' | 'outside' | 'noseat' | 'unreachable' | 'unknown';
export type Texts = Told | 'waiting' | ReturnType<typeof stoppedTexts>;

/** Returns which card lies on the board, or null if none does. */
export function cardOf(play: Play, framed: boolean, adapter: Adapter | null): Texts | null {
  const { socket, match, ending, seat } = play;
  if (!framed) return 'outside';
  if (ending !== null) return null;
  if (socket.kind === 'stopped') return stoppedTexts(socket.reason);
  if (match !== null) {
    const readable = adapter?.board(match.state, match.you, null) ?? null;
    return readable === null ? 'unknown' : null;
  }
  if (socket.kind === 'retrying') return 'unreachable';
  if (seat === null) return 'connecting';
  return seat === 'none' ? 'noseat' : 'waiting';
}

const ICONS: Partial<Record<Texts, IconName>> = {
  connecting: 'load',
  noseat: 'seat',
  replaced: 'tabs',
  expired: 'clock',
};

interface CardProps {
  texts: Texts;
  published: Published;
  controller: Controller;
}

/** The card on the board before a match, and when the frame cannot continue. */
export function Card({ texts, published: { play }, controller }: CardProps) {
  const locale = useLocale();
  return (
    <div class="veil">
      <section class="card" aria-labelledby="card-title">
        {texts === 'waiting' ? (
          <span class="seek" aria-hidden="true" />
        ) : (
          <Icon name={ICONS[texts] ?? 'alert'} spins={texts === 'connecting'} />
        )}
        <h2 class="headline" id="card-title">
          {locale.text(`${texts}.title`)}
        </h2>
        {texts === 'waiting' ? (
          <WaitingText play={play} seat={play.seat as Waiting} />
        ) : (
          <p>{locale.text(`${texts}.text`)}</p>
        )}
        {texts === 'unreachable' && (
          <Button kind="pri" onPress={() => controller.retryNow()}>
            {locale.text('unreachable.button')}
          </Button>
        )}
        {texts === 'replaced' && (
          <Button kind="pri" onPress={() => controller.takeOver()}>
            {locale.text('replaced.button')}
          </Button>
        )}
      </section>
    </div>
  );
}

/** How long the player has waited, and when the wait ends. */
function WaitingText({ play, seat }: { play: Play; seat: Waiting }) {
  const locale = useLocale();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const { seatedAt, expiresAt, heldBack } = seat;
  const texts: string[] = [];
  if (heldBack === 'player_busy') texts.push(locale.text('waiting.busy'));
  if (seatedAt !== undefined) {
    const waited = Math.max(0, now + play.aheadMs - seatedAt * 1000);
    texts.push(locale.text('waiting.since', { time: locale.clock(waited) }));
  }
  if (expiresAt !== undefined) {
    const time = locale.time(expiresAt * 1000 - play.aheadMs);
    texts.push(locale.text('waiting.until', { time }));
  }
  return <p>{texts.join(' ')}</p>;
}
