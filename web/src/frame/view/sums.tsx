import { amountsOf } from '../play';
import type { Play } from '../play';
import { useLocale } from './locale';

/** Stake and prize beside each other, where they are known and to be shown. */
export function Sums({ play, class: extra = '' }: { play: Play; class?: string }) {
  const locale = useLocale();
  const amounts = amountsOf(play);
  if (amounts === null) return null;
  return (
    <dl class={`sums ${extra}`}>
      <div>
        <dt>{locale.text('stake.your')}</dt>
        <dd>{locale.money(amounts.stake)}</dd>
      </div>
      <div>
        <dt>{locale.text('prize.winner')}</dt>
        <dd class="gain">{locale.money(amounts.prize)}</dd>
      </div>
    </dl>
  );
}
