import { useEffect, useRef } from 'preact/hooks';
import type { MoveEntry } from './move-entry';

/** A pointer that has moved less than this, in pixels, presses a cell and drags nothing. */
const DEAD_PX = 6;

/** A finger hides what is below it, so a piece that it drags is larger and above it. */
const FOR_FINGERS = 'translateY(-60%) scale(1.7)';

interface Drag {
  cell: HTMLElement;
  man: SVGElement;
  x: number;
  y: number;
  moving: boolean;
}

/** Moves the drawing of a piece by some pixels, above all others. */
function shift({ man }: Drag, x: number, y: number, more = ''): void {
  man.classList.add('drag');
  man.style.transform = `translate(${x}px,${y}px)${more}`;
}

const cellAt = ({ clientX, clientY }: PointerEvent): HTMLElement | null =>
  document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-cell]') ?? null;

/** Marks the cell above which a piece is dragged, and no other. */
function markOver(cell: Element | null): void {
  document.querySelector('.over')?.classList.remove('over');
  cell?.classList.add('over');
}

type Listener = (event: PointerEvent) => void;

/** Calls `onMove` for each movement of the pointer, until it is released, and then `onEnd`. */
function untilReleased(onMove: Listener, onEnd: Listener): void {
  const stop = new AbortController();
  const end: Listener = (event) => {
    stop.abort();
    onEnd(event);
  };
  addEventListener('pointermove', onMove, stop);
  addEventListener('pointerup', end, stop);
  addEventListener('pointercancel', end, stop);
}

/**
 * Lets pieces be picked up and dragged by mouse, finger or pen. A piece is held as soon as it is
 * pressed. While `waits` is true, because the player chooses a promotion, a dropped piece stays
 * where it is. Returns the listeners of the board, and the id of the cell where a piece was dropped
 * last.
 */
export function useDrag(entry: MoveEntry, waits: boolean) {
  const latest = useRef({ entry, waits });
  latest.current = { entry, waits };
  const drag = useRef<Drag | null>(null);
  const dropped = useRef('');
  const justPicked = useRef(false);

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
    justPicked.current = false;
    if (cell === null || man == null || event.button !== 0 || !event.isPrimary) return;
    const held = cell.dataset.cell ?? '';
    justPicked.current = held !== entry.picked && entry.pick(held);
    const one: Drag = { cell, man, x: event.clientX, y: event.clientY, moving: false };
    drag.current = one;
    const onMove = (move: PointerEvent): void => {
      const [x, y] = [move.clientX - one.x, move.clientY - one.y];
      if (!one.moving && Math.hypot(x, y) < DEAD_PX) return;
      one.moving ||= latest.current.entry.pick(held);
      if (!one.moving) return;
      shift(one, x, y, move.pointerType === 'touch' ? FOR_FINGERS : '');
      markOver(cellAt(move));
    };
    const onEnd = (end: PointerEvent): void => {
      if (!one.moving) return;
      markOver(null);
      const target = end.type === 'pointerup' ? cellAt(end) : null;
      const id = target?.dataset.cell ?? '';
      if (target !== null && latest.current.entry.isTarget(id)) {
        const [to, from] = [target.getBoundingClientRect(), cell.getBoundingClientRect()];
        shift(one, to.x - from.x, to.y - from.y);
        dropped.current = id;
        latest.current.entry.press(id);
      } else latest.current.entry.cancel();
      // The next render sets `waits`, which `putBack` reads.
      setTimeout(putBack);
    };
    untilReleased(onMove, onEnd);
  };
  // The press has picked the piece up. The click that follows the press would put the piece down
  // again.
  const onClickCapture = (event: MouseEvent): void => {
    if (justPicked.current && event.detail > 0) event.stopPropagation();
    justPicked.current = false;
  };
  return { listeners: { onPointerDown, onClickCapture }, dropped };
}
