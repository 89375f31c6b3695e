/** Days as the billing calls write them, `yyyymmdd` in UTC, and as people read them. */

import { FINAL_AFTER_MIN } from './bounds';

const DAY_MS = 86_400_000;

const short = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const long = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});
const month = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

const msOf = (day: string) =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6, 8)));

const dayOfMs = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');

/** Whether a text is a real day. */
export const isDay = (text: string) => /^\d{8}$/.test(text) && dayOfMs(msOf(text)) === text;

/** `20 Nov`. */
export const shortDay = (day: string) => short.format(msOf(day));

/** `Friday 20 November`. */
export const longDay = (day: string) => long.format(msOf(day)).replace(',', '');

/** `November 2026`. */
export const monthOf = (day: string) => month.format(msOf(day));

export const plusDays = (day: string, days: number) => dayOfMs(msOf(day) + days * DAY_MS);

/** How many days a range has, both ends included. */
export const daysIn = (from: string, to: string) =>
  Math.round((msOf(to) - msOf(from)) / DAY_MS) + 1;

export const today = (now = Date.now()) => dayOfMs(now);

/** The latest day that may be final. It is final unless money of its matches is still open. */
export const latestFinal = (now = Date.now()) =>
  plusDays(today(now - FINAL_AFTER_MIN * 60_000), -1);

/** The first second of a day, in epoch seconds. */
export const beginOf = (day: string) => msOf(day) / 1000;

/** A day as `<input type="date">` has it, `yyyy-mm-dd`, and back. */
export const forInput = (day: string) =>
  `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;
export const fromInput = (text: string) => text.replaceAll('-', '');
