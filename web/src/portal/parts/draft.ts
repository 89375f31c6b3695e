/**
 * What somebody has typed and not saved. It is kept in memory by its name while the portal is
 * open, so that another page, the other environment and a new sign-in do not lose it.
 */

import { useEffect, useState } from 'preact/hooks';
import { hold } from '../address';

const DRAFTS_MAX = 100;
const drafts = new Map<string, unknown>();

const ask = (event: BeforeUnloadEvent) => event.preventDefault();

/** Keeps what was typed under a name, or forgets it with undefined. */
export function keep(name: string, value: unknown): void {
  if (value === undefined) drafts.delete(name);
  else if (drafts.has(name) || drafts.size < DRAFTS_MAX) drafts.set(name, value);
  // Makes the browser ask before it leaves the document, while something would be lost.
  if (drafts.size > 0) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
}

/** Whether something unsaved has a name with this beginning. */
export const hasDraft = (begin: string) =>
  [...drafts.keys()].some((name) => name.startsWith(begin));

export interface Draft<T> {
  /** What was typed, else what is stored. */
  value: T;
  dirty: boolean;
  set(value: T): void;
  /** Goes back to what is stored. */
  drop(): void;
}

/** `name` begins with the environment and the page, as in `test/prices`. */
export function useDraft<T>(name: string, stored: T): Draft<T> {
  const [, again] = useState(0);
  const change = (value: T | undefined) => {
    keep(name, value);
    again((count) => count + 1);
  };
  const typed = drafts.get(name) as T | undefined;
  return {
    value: typed ?? stored,
    dirty: typed !== undefined,
    set: change,
    drop: () => change(undefined),
  };
}

/**
 * Keeps the reader on the page while a secret that is shown once is not stored: Back does nothing,
 * and the browser asks before it leaves the document.
 */
export function useHeld(held: boolean): void {
  useEffect(() => {
    if (!held) return;
    keep('secret', true);
    hold(true);
    return () => {
      keep('secret', undefined);
      hold(false);
    };
  }, [held]);
}
