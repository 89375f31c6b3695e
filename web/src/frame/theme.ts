/** The partner's theme and logo. */

import { applyTheme } from '../design/theme';
import type { Theme } from './protocol';

/** Sets a partner's colours on the document. The default theme leaves them to the system. */
export function showTheme(theme: Theme | null | undefined): void {
  if (theme != null && theme.revision !== 0) applyTheme(theme);
}

/** An image inside its address, as the preview of a theme has it before it is stored. */
const INLINE = /^data:image\/(png|webp);base64,/;

/** Returns the logo's address if it is `INLINE` or below `/embed/` on this service, else null. */
export function logoAddress(theme: Theme | undefined): string | null {
  const url = theme?.logo?.url;
  if (typeof url !== 'string') return null;
  if (INLINE.test(url)) return url;
  const address = url.replace(/^https?:\/\/[^/]+/, '');
  const inside = address.startsWith('/embed/') && !address.includes('..');
  return inside ? address : null;
}
