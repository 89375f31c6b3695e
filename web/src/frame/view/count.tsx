import type { Side } from '../protocol';
import { MarkView } from './mark';
import { useLocale } from './locale';

/** The number of a side's discs on the board. */
export function Count({ count, side }: { count: number; side: Side }) {
  const locale = useLocale();
  return (
    <span class="count" role="img" aria-label={locale.text('discs', { n: count })}>
      <MarkView gameId="reversi" side={side} shape="disc" />
      {locale.number(count)}
    </span>
  );
}
