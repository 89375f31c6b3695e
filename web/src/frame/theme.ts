/** The partner's logo. */

import type { Theme } from './protocol';

const LOGO_TYPE = /^image\/(png|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Returns a `data:` URL of the logo, or null if it is not a PNG or WebP image in base64. */
export function logoAddress(theme: Theme | undefined): string | null {
  const logo = theme?.logo;
  if (!logo || !LOGO_TYPE.test(logo.mime) || !BASE64.test(logo.base64)) return null;
  return `data:${logo.mime};base64,${logo.base64}`;
}
