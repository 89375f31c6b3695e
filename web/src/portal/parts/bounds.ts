/**
 * Bounds of the service that texts and fields of the portal name. `tests/web/test_portal_bounds.py`
 * compares each with the service's own value.
 */

/** The most days of one call about days, both ends counted. */
export const DAYS_MAX = 92;
/** How many minutes after its end a day is final at the earliest. */
export const FINAL_AFTER_MIN = 30;
/** For how many days an invite can be accepted. */
export const INVITE_DAYS = 7;
/** For how many days a replaced key still works. */
export const ROTATION_DAYS = 7;
export const ROTATION_S = ROTATION_DAYS * 86_400;
/** Characters of the label of a key. */
export const LABEL_MAX = 64;
/** For how many minutes a code permits a change of a key or a secret. */
export const FRESH_MIN = 2;
/** For how many minutes a code permits other changes. */
export const WINDOW_MIN = 15;
/** For how many seconds an authenticator shows a code. */
export const CODE_S = 30;
/** Wrong codes in a row after which no code is checked for a while. */
export const WRONG_CODES_MAX = 5;
/** Failures in a row after which the service switches a webhook off. */
export const FAILURES_MAX = 10;
/** How many times the service tries to deliver a nudge, at most. */
export const TRIES_MAX = 3;
/** How many seconds a server has to answer a nudge. */
export const ANSWER_S = 5;
/** For how many days the service keeps attempts at delivering nudges. */
export const ATTEMPT_DAYS = 30;
export const ATTEMPT_S = ATTEMPT_DAYS * 86_400;
/** Characters of the address of a webhook. */
export const URL_MAX = 2048;
/** Characters of the name in a theme, and pixels of its largest corner radius. */
export const NAME_MAX = 64;
export const RADIUS_MAX = 32;
/** Bytes of a logo's file, and pixels of its longer side. */
export const LOGO_BYTES_MAX = 262_144;
export const LOGO_SIDE_MAX = 4096;
