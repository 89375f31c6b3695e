/** A theme that is being edited: its fields, their faults, and what is sent. */

import { contrast, isColour } from '../../design/colour';
import { LOGO_BYTES_MAX, LOGO_SIDE_MAX } from '../parts/bounds';
import { canBeRead, CONTRAST_MIN, mendedText } from '../parts/mend';

export interface Logo {
  mime: string;
  base64: string;
}

export interface Theme {
  displayName: string;
  primaryColor: string;
  backgroundColor: string;
  textColor: string;
  cornerRadius: number;
  showAmounts: boolean;
  logo: Logo | null;
}

export interface StoredTheme extends Theme {
  /** 0 for the default theme. */
  revision: number;
  updatedAt?: number;
}

const LOGO_TYPES = ['image/png', 'image/webp'];

const FIELDS = [
  'displayName',
  'primaryColor',
  'backgroundColor',
  'textColor',
  'cornerRadius',
  'showAmounts',
  'logo',
] as const;

/** Returns the part of a stored theme that is sent. */
export function themeOf(stored: StoredTheme): Theme {
  const logo =
    stored.logo === null ? null : { mime: stored.logo.mime, base64: stored.logo.base64 };
  const { displayName, primaryColor, backgroundColor, textColor, cornerRadius, showAmounts } =
    stored;
  return {
    displayName,
    primaryColor,
    backgroundColor,
    textColor,
    cornerRadius,
    showAmounts,
    logo,
  };
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Which fields differ between two themes. */
export const changedFields = (one: Theme, other: Theme) =>
  FIELDS.filter((name) => !same(one[name], other[name]));

/** Returns `theirs`, but each field in which `mine` differs from `base` has the value of `mine`. */
export function merged(base: Theme, theirs: Theme, mine: Theme): Theme {
  const fields = changedFields(base, mine).map((name) => [name, mine[name]]);
  return { ...theirs, ...Object.fromEntries(fields) };
}

const LABELS: Record<(typeof FIELDS)[number], string> = {
  displayName: 'Name on the frame',
  primaryColor: 'Primary',
  backgroundColor: 'Background',
  textColor: 'Text',
  cornerRadius: 'Corners',
  showAmounts: 'Stakes and prizes',
  logo: 'Logo',
};

function said(theme: Theme, name: (typeof FIELDS)[number]): string {
  if (name === 'logo') return theme.logo === null ? 'none' : 'an image';
  if (name === 'showAmounts') return theme.showAmounts ? 'shown' : 'not shown';
  return String(theme[name]) || 'none';
}

/** Where two people have changed the same field since `base`. */
export function collisions(base: Theme, theirs: Theme, mine: Theme) {
  const touched = changedFields(base, mine).filter((name) => !same(theirs[name], mine[name]));
  return touched
    .filter((name) => !same(base[name], theirs[name]))
    .map((name) => ({ what: LABELS[name], theirs: said(theirs, name), yours: said(mine, name) }));
}

export interface Fault {
  says: string;
  mended: string | null;
}

/** A contrast with one digit, never rounded up: `2.9 : 1`. */
export const ratio = (value: number) => `${(Math.floor(value * 10) / 10).toFixed(1)} : 1`;

/** What is wrong with each field. */
export function faultsOf(theme: Theme): Partial<Record<keyof Theme, Fault>> {
  const faults: Partial<Record<keyof Theme, Fault>> = {};
  for (const name of ['primaryColor', 'backgroundColor', 'textColor'] as const) {
    if (!isColour(theme[name])) {
      faults[name] = { says: 'Write # and six digits or letters from A to F.', mended: null };
    }
  }
  const { textColor: text, backgroundColor: background } = theme;
  if (isColour(text) && isColour(background) && !canBeRead(text, background)) {
    const says = `${ratio(contrast(text, background))} on the background.`;
    faults.textColor = { says, mended: mendedText(text, background) };
  }
  return faults;
}

/**
 * The theme that the preview shows. A malformed colour is replaced by the colour of the theme
 * `last`. After that, a text colour that cannot be read on the background is replaced by a similar
 * one that can be read.
 */
export function shownTheme(theme: Theme, last: Theme): Theme {
  const colour = (name: 'primaryColor' | 'backgroundColor' | 'textColor') =>
    isColour(theme[name]) ? theme[name] : last[name];
  const [text, background] = [colour('textColor'), colour('backgroundColor')];
  return {
    ...theme,
    primaryColor: colour('primaryColor'),
    backgroundColor: background,
    textColor: mendedText(text, background) ?? text,
  };
}

/** The first sentences of the page: whether the text can be read. The first part is in bold. */
export function answerOf(theme: Theme, environment: string): [string, string] {
  const { textColor: text, backgroundColor: background } = theme;
  if (!isColour(text) || !isColour(background)) {
    return ['A colour is not complete yet.', 'It cannot be saved like this.'];
  }
  const reached = ratio(contrast(text, background));
  if (canBeRead(text, background)) {
    return [
      `This is what players see in ${environment}.`,
      `Text on background reaches ${reached}.`,
    ];
  }
  const wanted = `${reached}, and at least ${CONTRAST_MIN} : 1 is needed.`;
  return [`This text cannot be read by everybody: ${wanted}`, 'It cannot be saved like this.'];
}

/** Why a file cannot be a logo, or null. */
export async function faultOfLogo(file: File): Promise<string | null> {
  if (!LOGO_TYPES.includes(file.type)) return 'A logo is a PNG or WebP image.';
  if (file.size > LOGO_BYTES_MAX) return `A logo has at most ${LOGO_BYTES_MAX / 1024} KB.`;
  try {
    const { width, height } = await createImageBitmap(file);
    const fits = Math.max(width, height) <= LOGO_SIDE_MAX;
    return fits ? null : `A logo has at most ${LOGO_SIDE_MAX} by ${LOGO_SIDE_MAX} pixels.`;
  } catch {
    return 'This file is not an image that can be read.';
  }
}

/** Returns the content of a file in base64. */
export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
