/**
 * Keys that work on every page: Ctrl K, `/`, and `G` with a letter. Single keys do nothing inside
 * fields and dialogs, never write, and can be switched off.
 */

import { useEffect } from 'preact/hooks';

/** The page to which `G` and a letter lead, by its name. */
export const LETTERS: Readonly<Record<string, string>> = {
  h: '',
  t: 'try',
  n: 'now',
  f: 'find',
  u: 'usage',
  k: 'keys',
  w: 'webhooks',
  p: 'prices',
};

/** How long after `G` the letter may come, in milliseconds. */
const PAIR_MS = 1500;

interface Keys {
  onPalette(): void;
  onPage(name: string): void;
  /** Whether shortcuts of a single key are on. */
  single: boolean;
}

function isTaken(target: EventTarget | null): boolean {
  const element = target as Element | null;
  if (document.querySelector('dialog[open]') !== null) return true;
  return element?.closest?.('input, select, textarea, [contenteditable], iframe') != null;
}

/** Gives the focus to the search of the page, if it has one. */
const search = () => document.querySelector<HTMLElement>('main input[type=search]')?.focus();

export function useKeyboard({ onPalette, onPage, single }: Keys): void {
  useEffect(() => {
    let begun = 0;
    const pressed = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && key === 'k') {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) onPalette();
        return;
      }
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!single || !plain || isTaken(event.target)) return;
      const page = LETTERS[key];
      if (Date.now() - begun < PAIR_MS && page !== undefined) {
        begun = 0;
        event.preventDefault();
        onPage(page);
      } else if (key === '/') {
        event.preventDefault();
        search();
      } else {
        begun = key === 'g' ? Date.now() : 0;
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [onPalette, onPage, single]);
}
