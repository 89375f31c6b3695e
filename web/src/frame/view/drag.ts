import { useEffect, useRef } from 'preact/hooks';
import type { MoveEntry } from './move-entry';

/** A pointer that has moved less than this, in pixels, presses a cell and drags nothing. */
const DEAD_PX = 6;

interface Drag {
  cell: HTMLElement;
  man: SVGElement;
  x: number;
  y: number;
  moving: boolean;
}

/** Moves the drawing of a piece by some pixels, above all others. */
function shift({ man }: Drag, x: number, y: number): void {
  man.classList.add('drag');
  man.style.transform = `translate(${x}px,${y}px)`;
}

const cellAt = ({ clientX, clientY }: PointerEvent): HTMLElement | null =>
  document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-cell]') ?? null;

/**
 * Lets pieces be dragged by mouse, finger or pen. A piece that was dropped stays where it is while
 * `waits`: while its move is being sent, or the player chooses a promotion. Returns the listener of
 * the board, and the id of the cell where a piece was dropped last.
 */
export function useDrag(entry: MoveEntry, waits: boolean) {
  const latest = useRef({ entry, waits });
  latest.current = { entry, waits };
  const drag = useRef<Drag | null>(null);
  const dropped = useRef('');

  const putBack = (): void => {
    if (latest.current.waits || drag.current === null) return;
    drag.current.man.classList.remove('drag');
    drag.current.man.style.transform = '';
    drag.current = null;
  };
  useEffect(putBack, [waits]);

  const onPointerDown = (event: PointerEvent): void => {
    const cell = cellAt(event);
    const man = cell?.querySelector<SVGElement>('.man');
    dropped.current = '';
    if (cell === null || man == null || event.button !== 0 || !event.isPrimary) return;
    const one: Drag = { cell, man, x: event.clientX, y: event.clientY, moving: false };
    drag.current = one;
    const onMove = ({ clientX, clientY }: PointerEvent): void => {
      const [x, y] = [clientX - one.x, clientY - one.y];
      if (!one.moving && Math.hypot(x, y) < DEAD_PX) return;
      one.moving ||= latest.current.entry.pick(cell.dataset.cell ?? '');
      if (one.moving) shift(one, x, y);
    };
    const onEnd = (end: PointerEvent): void => {
      removeEventListener('pointermove', onMove);
      removeEventListener('pointerup', onEnd);
      removeEventListener('pointercancel', onEnd);
      if (!one.moving) return;
      const target = end.type === 'pointerup' ? cellAt(end) : null;
      const id = target?.dataset.cell ?? '';
      if (target !== null && latest.current.entry.isTarget(id)) {
        const [to, from] = [target.getBoundingClientRect(), cell.getBoundingClientRect()];
        shift(one, to.x - from.x, to.y - from.y);
        dropped.current = id;
        latest.current.entry.press(id);
      } else latest.current.entry.cancel();
      // After the next drawing, which shows whether the piece waits.
      setTimeout(putBack);
    };
    addEventListener('pointermove', onMove);
    addEventListener('pointerup', onEnd);
    addEventListener('pointercancel', onEnd);
  };
  return { onPointerDown, dropped };
}
