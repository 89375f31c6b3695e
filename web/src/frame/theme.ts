/** The partner's logo. */

import type { Theme } from './protocol';

/** Returns the address of the logo, or null if there is none below `/embed/` on this service. */
export function logoAddress(theme: Theme | undefined): string | null {
  const url = theme?.logo?.url;
  if (typeof url !== 'string') return null;
  const address = url.replace(/^https?:\/\/[^/]+/, '');
  const inside = address.startsWith('/embed/') && !address.includes('..');
  return inside ? address : null;
}
