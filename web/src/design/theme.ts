/** A partner's theme, as custom properties of the document. */

import { isColour, luminance } from './colour';

/** The part of a theme that changes the design tokens. */
export interface Colours {
  /** Colours are `#RRGGBB`. */
  primaryColor?: string;
  backgroundColor?: string;
  textColor?: string;
  /** In pixels. */
  cornerRadius?: number;
}

/** The largest corner radius of a theme, in pixels. */
const RADIUS_MAX = 32;
/**
 * Colours with less relative luminance than this are dark: white text has more contrast on them
 * than black text (1.05 / (l + 0.05) > (l + 0.05) / 0.05).
 */
const DARK_BELOW = 0.1791;

const isDark = (colour: string): boolean => luminance(colour) < DARK_BELOW;

/**
 * Returns the properties that a theme sets. A value that is missing or malformed sets nothing, so
 * that the style sheet's own value applies.
 */
export function properties(theme: Colours): Record<string, string> {
  const set: Record<string, string> = {};
  const { primaryColor, backgroundColor, textColor, cornerRadius } = theme;
  if (isColour(primaryColor)) {
    set['--primary'] = primaryColor;
    set['--on-primary'] = isDark(primaryColor) ? '#ffffff' : '#000000';
  }
  if (isColour(backgroundColor)) {
    set['--background'] = backgroundColor;
    set['color-scheme'] = isDark(backgroundColor) ? 'dark' : 'light';
  }
  if (isColour(textColor)) set['--text'] = textColor;
  if (typeof cornerRadius === 'number' && cornerRadius >= 0 && cornerRadius <= RADIUS_MAX) {
    set['--radius'] = `${cornerRadius}px`;
  }
  return set;
}

/** Sets a theme on the document. */
export function applyTheme(theme: Colours): void {
  const { style } = document.documentElement;
  for (const [name, value] of Object.entries(properties(theme))) style.setProperty(name, value);
}
