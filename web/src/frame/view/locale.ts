import { BUILT_IN } from '../words/locale';
import type { Locale } from '../words/locale';

let locale = BUILT_IN;

/** Sets the locale in which the frame is drawn from now on. There is one frame in a document. */
export const setLocale = (next: Locale): void => {
  locale = next;
};

/** Returns that locale. A change of it draws everything again. */
export const useLocale = (): Locale => locale;
