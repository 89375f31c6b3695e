/** The address of the page that is shown, and how to change it without loading the document. */

import { useEffect, useState } from 'preact/hooks';

const MOVED = 'pgs-portal-moved';

/** Goes to a path of the portal. `replace`: without an entry of its own in the history. */
export function go(path: string, replace = false): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  dispatchEvent(new Event(MOVED));
}

let held: string | null = null;

/** Keeps the reader at the present address until called with false. */
export function hold(on: boolean): void {
  held = on ? location.href : null;
}

/** Makes Back do nothing while the address is held. Call it before others listen to `popstate`. */
export function guardBack(): void {
  addEventListener('popstate', (event) => {
    if (held === null) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', held);
  });
}

function useAddress<T>(read: () => T): T {
  const [value, set] = useState(read);
  useEffect(() => {
    const moved = () => set(read());
    addEventListener(MOVED, moved);
    addEventListener('popstate', moved);
    return () => {
      removeEventListener(MOVED, moved);
      removeEventListener('popstate', moved);
    };
  }, []);
  return value;
}

export const usePath = () => useAddress(() => location.pathname);

/**
 * The query of the address, for filters and for what is open, and a function that changes some of
 * it. null removes a name. `pushes`: Back leads to the query before.
 */
export function useQuery(): [
  URLSearchParams,
  (changes: Record<string, string | null>, pushes?: boolean) => void,
] {
  const search = useAddress(() => location.search);
  const change = (changes: Record<string, string | null>, pushes = false) => {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    go(location.pathname + (text === '' ? '' : `?${text}`), !pushes);
  };
  return [new URLSearchParams(search), change];
}

/** Lets links to the portal's own pages change the address without loading the document. */
export function useLinks(): void {
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.('a[href^="/portal"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      if (link.hasAttribute('download') || link.hasAttribute('target')) return;
      event.preventDefault();
      go(link.getAttribute('href')!);
    };
    document.addEventListener('click', follow);
    return () => document.removeEventListener('click', follow);
  }, []);
}
