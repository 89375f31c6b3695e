import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

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

/** Moves the focus to the board when the element that had it has gone. */
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
    last.current = null;
    const next = '.card button, .dock .pri, .board [tabindex="0"], .dock .btn';
    app.current?.querySelector<HTMLElement>(next)?.focus();
  });
}
