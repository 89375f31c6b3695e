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
  const drawings = adapterOf(gameId)?.drawings;
  const classes = [drawings?.kind, !ghost && 'mark', shape, `${shape}${side}`, extra];
  const rest = { class: classes.filter(Boolean).join(' '), style, 'aria-hidden': true } as const;
  if (drawings === undefined) return <span {...rest} data-game={gameId} />;
  const { units, shapes } = drawings;
  const drawing = { __html: shapes[shape] ?? '' };
  return <svg {...rest} viewBox={`0 0 ${units} ${units}`} dangerouslySetInnerHTML={drawing} />;
}
