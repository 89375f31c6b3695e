import { useLayoutEffect, useRef } from 'preact/hooks';
import { adapterOf } from '../boards';
import type { Match } from '../play';
import { sayMove } from '../sentences';
import { useSpeaker } from './words';

/** The moves since this frame has joined, two a line. It is shown where there is room. */
export function Moves({ match }: { match: Match | null }) {
  const speaker = useSpeaker();
  const list = useRef<HTMLOListElement>(null);
  const count = match?.played.length ?? 0;
  useLayoutEffect(() => {
    if (list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [count]);
  if (match === null || count === 0) return <div class="moves" />;
  const note = adapterOf(match.gameId)?.note;
  const texts = match.played.map((played, at) => {
    const after = match.played[at + 1]?.before ?? match;
    return {
      ply: played.ply,
      text: note?.(played, after) ?? sayMove(match, played.move, speaker),
    };
  });
  const lines = new Map<number, typeof texts>();
  for (const one of texts) {
    const number = Math.floor(one.ply / 2) + 1;
    lines.set(number, [...(lines.get(number) ?? []), one]);
  }
  return (
    <ol class="moves" aria-label={speaker.say('moves')} tabIndex={0} ref={list}>
      {[...lines].map(([number, line]) => (
        <li key={number}>
          <i>{speaker.number(number)}.</i>
          {line[0] !== undefined && line[0].ply % 2 === 1 && <span>…</span>}
          {line.map(({ ply, text }) => (
            <span key={ply}>{ply === match.ply - 1 ? <b class="now">{text}</b> : text}</span>
          ))}
        </li>
      ))}
    </ol>
  );
}
