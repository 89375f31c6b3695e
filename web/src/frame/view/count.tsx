import type { Side } from '../protocol';
import { MarkView } from './mark';
import { useSpeaker } from './words';

/** The number of a side's discs on the board. */
export function Count({ count, side }: { count: number; side: Side }) {
  const speaker = useSpeaker();
  return (
    <span class="count" role="img" aria-label={speaker.say('discs', { n: count })}>
      <MarkView gameId="reversi" side={side} shape="disc" />
      {speaker.number(count)}
    </span>
  );
}
