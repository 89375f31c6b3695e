/** A text colour that can be read, near the one that was wanted. */

import { contrast, isColour } from '../../design/colour';

/** The least contrast of text on its background (WCAG 2.2, level AA). */
export const CONTRAST_MIN = 4.5;

const partsOf = (colour: string) =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

const hex = (part: number) => Math.round(part).toString(16).padStart(2, '0');

/** Returns a colour mixed with `other`: 0 is black, 255 white. `share`: how much, in 256ths. */
function mixed(colour: string, other: number, share: number): string {
  const mix = partsOf(colour).map((part) => hex(part + ((other - part) * share) / 256));
  return `#${mix.join('')}`.toUpperCase();
}

/** Whether text in one colour can be read on another. */
export const canBeRead = (text: string, background: string) =>
  contrast(text, background) >= CONTRAST_MIN;

/**
 * Returns the text colour, mixed with as little black or white as makes it readable on the
 * background. Returns null if `text` or `background` is no colour.
 */
export function mendedText(text: string, background: string): string | null {
  if (!isColour(text) || !isColour(background)) return null;
  if (canBeRead(text, background)) return text;
  for (let share = 0; share <= 256; share += 1) {
    for (const other of [0, 255]) {
      const candidate = mixed(text, other, share);
      if (canBeRead(candidate, background)) return candidate;
    }
  }
  return null;
}
