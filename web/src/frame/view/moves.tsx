import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Controller } from '../controller';
import type { Published } from '../published';
import { notesOf } from '../history';
import { useLocale } from './locale';

interface MovesProps {
  published: Published;
  controller: Controller;
}

/** The moves: a column in a wide frame, else a strip. A press on a move shows its position. */
export function Moves({ published: { play, past }, controller }: MovesProps) {
  const { match } = play;
  const locale = useLocale();
  const list = useRef<HTMLOListElement>(null);
  const shown = past ?? match?.ply ?? 0;
  useLayoutEffect(() => {
    const now = list.current?.querySelector<HTMLElement>('.now');
    if (list.current === null || !now) return;
    // As a column it scrolls down, as a strip to the side.
    const { clientHeight, clientWidth } = list.current;
    list.current.scrollTo({
      top: now.offsetTop - clientHeight / 2,
      left: now.offsetLeft + (now.offsetWidth - clientWidth) / 2,
    });
  }, [shown, play.ending, locale]);
  if (match === null || match.moves.length === 0) return <div class="moves" />;
  const lines = new Map<number, ReturnType<typeof notesOf>>();
  for (const one of notesOf(match, locale)) {
    const number = Math.floor(one.ply / 2) + 1;
    lines.set(number, [...(lines.get(number) ?? []), one]);
  }
  const go = (event: MouseEvent): void => {
    const pressed = (event.target as Element).closest('[data-ply]');
    if (pressed !== null) controller.look(Number(pressed.getAttribute('data-ply')) + 1);
  };
  return (
    <ol class="moves" aria-label={locale.text('moves')} tabIndex={0} ref={list} onClick={go}>
      {[...lines].map(([number, line]) => (
        <li key={number}>
          <i>{locale.number(number)}.</i>
          {line.map(({ ply, text }) => (
            <span key={ply} data-ply={ply}>
              {ply === shown - 1 ? <b class="now">{text}</b> : text}
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}
