/** A locale: the texts of a language, from its catalogue; numbers, money and times by `Intl`. */

import type { Catalogue, Key } from './en';
import { LANGUAGE, OTHERS, OWN } from './own';

const own: Catalogue = { ...OWN };

/** Adds the texts that come with a game to those of this build. */
export function addTexts(texts: Partial<Catalogue>): void {
  Object.assign(own, texts);
}

const RIGHT_TO_LEFT = new Set(['ar']);

const FIRST_STRONG_ISOLATE = '\u2068';
const LEFT_TO_RIGHT_ISOLATE = '\u2066';
const POP_ISOLATE = '\u2069';

/** Separates the names in a text from what stands between them. */
export const NAMES = /(\u2068.*?\u2069)/;

export type Parameters = Record<string, string | number>;

export class Locale {
  /** The tag of the language, such as `pt-BR`. */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly #catalogue: Catalogue;
  readonly #number: Intl.NumberFormat;
  readonly #money: Intl.NumberFormat;
  readonly #time: Intl.DateTimeFormat;
  readonly #plural: Intl.PluralRules;

  constructor(tag: string, catalogue: Catalogue) {
    this.tag = tag;
    this.direction = RIGHT_TO_LEFT.has(languageOf(tag)) ? 'rtl' : 'ltr';
    this.#catalogue = catalogue;
    const currency = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' };
    this.#number = new Intl.NumberFormat(tag);
    this.#money = new Intl.NumberFormat(tag, currency as Intl.NumberFormatOptions);
    this.#time = new Intl.DateTimeFormat(tag, { hour: 'numeric', minute: '2-digit' });
    this.#plural = new Intl.PluralRules(tag);
  }

  /** Returns a text. A parameter `n` that is a number chooses the plural. */
  text(key: Key, parameters: Parameters = {}): string {
    const found = this.#catalogue[key];
    const { n } = parameters;
    const rule = typeof n === 'number' ? this.#plural.select(n) : 'other';
    const text = typeof found === 'string' ? found : (found[rule] ?? found.other ?? '');
    return text.replace(/\{(\w+)\}/g, (mark, name: string) => {
      const value = parameters[name];
      return typeof value === 'number' ? this.#number.format(value) : (value ?? mark);
    });
  }

  /** Returns an amount of US cents, such as `$9.00`. */
  money(cents: number): string {
    const text = this.#money.format(cents / 100);
    // Otherwise right-to-left text would separate the currency sign from the number.
    return this.direction === 'rtl' ? LEFT_TO_RIGHT_ISOLATE + text + POP_ISOLATE : text;
  }

  number(value: number): string {
    return this.#number.format(value);
  }

  /**
   * Returns a time as minutes and seconds with some decimals. It is rounded up: 0:00 means that no
   * time is left.
   */
  clock(ms: number, decimals = 0): string {
    const unit = 10 ** decimals;
    const seconds = Math.ceil((ms * unit) / 1000) / unit;
    const digits = { minimumIntegerDigits: 2, minimumFractionDigits: decimals };
    const format = new Intl.NumberFormat(this.tag, digits);
    return `${this.number(Math.floor(seconds / 60))}:${format.format(seconds % 60)}`;
  }

  /** Returns the time of day of an epoch time in milliseconds. */
  time(ms: number): string {
    return this.#time.format(ms);
  }
}

/** The locale of this build's language, in use until another one has been loaded. */
export const BUILT_IN = new Locale(LANGUAGE, own);

function languageOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

/** Returns the first of some language tags that has a catalogue, else this build's language. */
export function chooseLanguage(tags: readonly string[]): string {
  const isTag = (tag: string): boolean => /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(tag);
  const known = (tag: string): boolean =>
    languageOf(tag) === LANGUAGE || Object.hasOwn(OTHERS, languageOf(tag));
  return tags.find((tag) => isTag(tag) && known(tag)) ?? LANGUAGE;
}

/**
 * Returns the locale of a language, at once if it is the language of this build. If another
 * catalogue cannot be loaded, it is the locale of this build's language.
 */
export function localeOf(tag: string): Locale | Promise<Locale> {
  const load = OTHERS[languageOf(tag)];
  if (load === undefined) return new Locale(tag, own);
  return load().then(
    ({ catalogue }) => new Locale(tag, catalogue),
    () => BUILT_IN,
  );
}

/** Returns a name whose direction cannot disturb the text around it. */
export function isolated(name: string): string {
  return FIRST_STRONG_ISOLATE + name + POP_ISOLATE;
}
