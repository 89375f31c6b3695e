/** The partner's theme, as custom properties of the document. */

import type { Theme } from './protocol';

const COLOUR = /^#[0-9a-f]{6}$/i;

/** Returns the relative luminance of `#RRGGBB`, 0 to 1 (WCAG 2.2, "relative luminance"). */
export function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the properties that a theme sets; whatever is missing or is no colour is left to the style sheet. */
export function properties(theme: Theme): Record<string, string> {
  const set: Record<string, string> = {};
  const { primaryColor, backgroundColor, textColor, cornerRadius } = theme;
  if (primaryColor !== undefined && COLOUR.test(primaryColor)) {
    set['--primary'] = primaryColor;
    set['--on-primary'] = contrast(primaryColor, '#ffffff') >= contrast(primaryColor, '#000000') ? '#ffffff' : '#000000';
  }
  if (backgroundColor !== undefined && COLOUR.test(backgroundColor)) {
    set['--background'] = backgroundColor;
    set['color-scheme'] = luminance(backgroundColor) < 0.18 ? 'dark' : 'light';
  }
  if (textColor !== undefined && COLOUR.test(textColor)) set['--text'] = textColor;
  if (typeof cornerRadius === 'number' && cornerRadius >= 0 && cornerRadius <= 32) set['--radius'] = `${cornerRadius}px`;
  return set;
}

/** Returns the address of a logo, or null: of the two types that a theme may hold, and nothing else. */
export function logoAddress(theme: Theme | undefined): string | null {
  const logo = theme?.logo;
  if (!logo || !/^image\/(png|webp)$/.test(logo.mime) || !/^[A-Za-z0-9+/]+={0,2}$/.test(logo.base64)) return null;
  return `data:${logo.mime};base64,${logo.base64}`;
}
