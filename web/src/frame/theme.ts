/** The partner's theme, as custom properties of the document. */

import type { Theme } from './protocol';

const COLOUR = /^#[0-9a-f]{6}$/i;
const LOGO_TYPE = /^image\/(png|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The largest corner radius of a theme, in pixels. */
const RADIUS_MAX = 32;
/** Backgrounds with less relative luminance than this count as dark. */
const DARK_BELOW = 0.18;

/** Returns the relative luminance of `#RRGGBB`, 0 to 1 (WCAG 2.2, "relative luminance"). */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [first, second] = [luminance(one), luminance(other)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

/**
 * Returns the properties that a theme sets. A value that is missing or malformed sets nothing, so
 * that the style sheet's own value applies.
 */
export function properties(theme: Theme): Record<string, string> {
  const set: Record<string, string> = {};
  const { primaryColor: primary, backgroundColor: background, textColor: text } = theme;
  const radius = theme.cornerRadius;
  if (primary !== undefined && COLOUR.test(primary)) {
    const white = contrast(primary, '#ffffff') >= contrast(primary, '#000000');
    set['--primary'] = primary;
    set['--on-primary'] = white ? '#ffffff' : '#000000';
  }
  if (background !== undefined && COLOUR.test(background)) {
    set['--background'] = background;
    set['color-scheme'] = luminance(background) < DARK_BELOW ? 'dark' : 'light';
  }
  if (text !== undefined && COLOUR.test(text)) set['--text'] = text;
  if (typeof radius === 'number' && radius >= 0 && radius <= RADIUS_MAX) {
    set['--radius'] = `${radius}px`;
  }
  return set;
}

/** Returns a `data:` URL of the logo, or null if it is not a PNG or WebP image in base64. */
export function logoAddress(theme: Theme | undefined): string | null {
  const logo = theme?.logo;
  if (!logo || !LOGO_TYPE.test(logo.mime) || !BASE64.test(logo.base64)) return null;
  return `data:${logo.mime};base64,${logo.base64}`;
}
