import { adapterOf } from '../boards';
import type { Shape } from '../boards/types';
import type { Side } from '../protocol';

interface MarkProps {
  gameId: string;
  side: Side;
  shape: Shape;
  /** `ghost` for a mark that is not there yet; `draw`, `fall`, `put` or `slid` to move it. */
  class?: string;
  style?: Record<string, string | number>;
}

/** Draws a mark. Screen readers do not see it: they say the label of its cell. */
export function MarkView({ gameId, side, shape, class: extra = '', style = {} }: MarkProps) {
  const ghost = extra.includes('ghost');
  const classes = [ghost ? '' : 'mark', shape, `${shape}${side}`, extra];
  const rest = { class: classes.join(' ').trim(), style, 'aria-hidden': true } as const;
  if (shape === 'disc') return <span {...rest} data-game={gameId} />;
  if (shape === 'x') {
    return (
      <svg {...rest} viewBox="0 0 100 100">
        <path pathLength="1" d="M23 22c17 19 35 38 54 55" />
        <path pathLength="1" d="M78 23C60 42 42 59 22 78" />
      </svg>
    );
  }
  if (shape === 'o') {
    return (
      <svg {...rest} viewBox="0 0 100 100">
        <circle pathLength="1" cx="50" cy="50" r="30" transform="rotate(-110 50 50)" />
      </svg>
    );
  }
  return (
    <svg {...rest} class={`man ${rest.class}`} viewBox="0 0 48 48">
      <g dangerouslySetInnerHTML={{ __html: adapterOf(gameId)?.men?.[shape] ?? '' }} />
    </svg>
  );
}
