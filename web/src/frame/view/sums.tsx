import { amountsOf } from '../play';
import type { Play } from '../play';
import { useSpeaker } from './words';

/** Stake and prize beside each other, where they are known and to be shown. */
export function Sums({ play, class: extra = '' }: { play: Play; class?: string }) {
  const speaker = useSpeaker();
  const amounts = amountsOf(play);
  if (amounts === null) return null;
  return (
    <dl class={`sums ${extra}`}>
      <div>
        <dt>{speaker.say('stake.your')}</dt>
        <dd>{speaker.money(amounts.stake)}</dd>
      </div>
      <div>
        <dt>{speaker.say('prize.winner')}</dt>
        <dd class="gain">{speaker.money(amounts.prize)}</dd>
      </div>
    </dl>
  );
}
