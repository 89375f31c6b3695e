/** What screen readers say, one after the other. */

export interface Announced {
  /** Rises by one with each announcement. */
  id: number;
  text: string;
}

/** How many announcements stay in the document. Older ones have been spoken. */
const KEPT = 6;

/**
 * Keeps the newest announcements. Each is an element of its own, which is added and never changed,
 * so that a reader which is still speaking says all of them in turn.
 */
export class Announcer {
  #kept: readonly Announced[] = [];
  #count = 0;

  /** Adds some texts. Returns what is kept. */
  add(texts: readonly string[]): readonly Announced[] {
    const added = texts.map((text) => ({ id: (this.#count += 1), text }));
    if (added.length > 0) this.#kept = [...this.#kept, ...added].slice(-KEPT);
    return this.#kept;
  }
}
