import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { Controller } from '../controller';

/**
 * Calls `onNeed` with the height that the content of an element needs, whenever it is more than the
 * element has.
 */
export function useHeight(
  app: RefObject<HTMLElement | null>,
  onNeed: (height: number) => void,
): void {
  const measure = (): void => {
    const element = app.current;
    if (element === null || element.scrollHeight <= element.clientHeight + 1) return;
    onNeed(element.scrollHeight);
  };
  useLayoutEffect(measure);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    if (app.current !== null) observer.observe(app.current);
    return () => observer.disconnect();
  }, []);
}

/**
 * Moves the focus when the element that had it has gone: to a button of a card, the main button of
 * the dock, or the board. Where nothing can take the focus yet, it moves as soon as something can.
 */
export function useKeptFocus(app: RefObject<HTMLElement | null>): void {
  const last = useRef<Element | null>(null);
  useEffect(() => {
    const keep = (event: FocusEvent): void => {
      last.current = event.target as Element;
    };
    app.current?.addEventListener('focusin', keep);
    return () => app.current?.removeEventListener('focusin', keep);
  }, []);
  useLayoutEffect(() => {
    const gone = last.current !== null && !last.current.isConnected;
    if (!gone || document.activeElement !== document.body) return;
    const next = '.card button, .dock .pri, .board [tabindex="0"], .dock .btn';
    app.current?.querySelector<HTMLElement>(next)?.focus();
  });
}

/** The moves that each key steps through. The board uses the same keys for its cells. */
const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -Infinity,
  ArrowDown: Infinity,
};

/** Steps through the moves by the arrow keys, unless something else uses them. */
export function useSteps(controller: Controller): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target, key, altKey, ctrlKey, metaKey } = event;
      const moves = STEPS[key];
      if (moves === undefined || event.defaultPrevented || altKey || ctrlKey || metaKey) return;
      if ((target as Element).closest('select, .card') !== null) return;
      event.preventDefault();
      controller.step(moves);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [controller]);
}
