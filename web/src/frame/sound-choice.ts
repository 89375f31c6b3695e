/**
 * The player's choice of sound, which is all that the frame keeps in the browser. A browser may
 * refuse a frame its storage. The choice then ends with the page.
 */

export function isSoundKept(): boolean {
  try {
    return localStorage.pgsSound === '1';
  } catch {
    return false;
  }
}

export function keepSound(on: boolean): void {
  try {
    localStorage.pgsSound = on ? '1' : '0';
  } catch {
    // There is nothing to be done.
  }
}
