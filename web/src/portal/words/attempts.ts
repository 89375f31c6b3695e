/** The attempts at delivering nudges: what one says, what several mean, and how to repeat one. */

import { ANSWER_S, TRIES_MAX } from '../parts/bounds';
import { plusDays, today } from '../parts/days';
import { clockOf } from '../parts/format';

export interface Webhook {
  url: string;
  enabled: boolean;
  consecutiveFailures: number;
  createdAt: number;
  secretRotatedAt: number;
  disabledAt: number | null;
}

export interface Attempt {
  attemptId: string;
  nudgeId: string;
  at: number;
  try: number;
  delivered: boolean;
  durationMs: number;
  responseBody: string;
  test: boolean;
  /** Whether it sends the nudge of an earlier try again, because a member asked for it. */
  resend: boolean;
  statusCode?: number;
  matchId?: string;
  error?: string;
}

/** How many of the last nudges are counted, at most. */
const STRIP_MAX = 50;

/** The outcome in a word: a status, or that no answer came. */
export const outcomeOf = ({ statusCode }: Attempt) =>
  statusCode === undefined ? 'no answer' : String(statusCode);

/** The outcome, as the rest of a sentence that begins with `It`. */
export const toldOf = ({ statusCode, error }: Attempt) =>
  statusCode === undefined
    ? `got no answer: ${error ?? 'unknown'}`
    : `was answered with ${statusCode}`;

export const aboutOf = ({ test, matchId }: Attempt) =>
  test ? 'test event' : (matchId ?? 'several matches');

/** The last outcome of each nudge, the newest first, without test events and resends. */
export function lastTries(attempts: readonly Attempt[]): readonly Attempt[] {
  const seen = new Set<string>();
  return attempts.filter(({ nudgeId, test, resend }) => {
    if (test || resend || seen.has(nudgeId)) return false;
    seen.add(nudgeId);
    return true;
  });
}

export const newest = (attempts: readonly Attempt[]) => lastTries(attempts).slice(0, STRIP_MAX);

/** What the newest nudge failed on, and what to do. null if it was delivered. */
export function adviceOf(attempts: readonly Attempt[]): { title: string; does: string } | null {
  const last = lastTries(attempts)[0];
  if (last === undefined || last.delivered) return null;
  const { statusCode, error } = last;
  if (statusCode === undefined) return withoutAnswer(error ?? '');
  if (statusCode >= 500) {
    return {
      title: 'The nudges arrive; your code fails on them.',
      does:
        'Look for this in the log of your server. A nudge has no matchId: read the feed ' +
        'from your last cursor.',
    };
  }
  if (statusCode >= 300 && statusCode < 400) {
    return {
      title: 'Your server redirects, and a nudge follows no redirect.',
      does: 'Save the address to which it redirects.',
    };
  }
  if (statusCode === 401 || statusCode === 403) {
    return {
      title: 'Your server refuses the nudge.',
      does: 'Check the signature with this secret, whsec_ included. No other sign-in is sent.',
    };
  }
  if (statusCode === 404 || statusCode === 405) {
    return {
      title: 'Your server has nothing at this address that takes a POST.',
      does: 'Compare the path with the one that your server serves.',
    };
  }
  return {
    title: `Your server answers ${statusCode}.`,
    does: 'A nudge counts as delivered when the answer is 2xx.',
  };
}

function withoutAnswer(error: string): { title: string; does: string } {
  if (error.includes('certificate') || error.includes('TLS')) {
    return {
      title: `No secure connection: ${error}.`,
      does: 'Serve a certificate of a public authority for this host, with its whole chain.',
    };
  }
  if (error.includes(`${ANSWER_S} seconds`)) {
    return {
      title: 'Your server answers too late.',
      does: `Answer first, and read the feed afterwards. There are ${ANSWER_S} seconds.`,
    };
  }
  return {
    title: `No connection: ${error}.`,
    does: 'The host must have a public address, and its port must be open to everybody.',
  };
}

/** What comes after an attempt. */
export function nextOf(attempt: Attempt, all: readonly Attempt[]): string {
  if (attempt.delivered) return 'Nothing. Your server has it.';
  if (attempt.test) return 'Nothing. A test event is sent once, and counts for nothing.';
  if (attempt.resend) return 'Nothing. A resend is one try, and counts for nothing.';
  const later = all.find(
    (other) => other.nudgeId === attempt.nudgeId && other.try === attempt.try + 1,
  );
  if (later !== undefined) return `Try ${later.try} at ${clockOf(later.at)}: it ${toldOf(later)}.`;
  return attempt.try === TRIES_MAX
    ? 'None: this try was the last. The result waits in the feed.'
    : 'No further try. The result waits in the feed.';
}

/** The body of a nudge. All tries of a nudge send the same body. */
export function bodyOf(attempt: Attempt, all: readonly Attempt[], partnerId: string): string {
  const first = all.find((other) => other.nudgeId === attempt.nudgeId && other.try === 1);
  const at = (first ?? attempt).at;
  return JSON.stringify({ type: 'results.available', partnerId, at });
}

const sentAt = (body: string) => (JSON.parse(body) as { at: number }).at;

/** A nudge as it went out. Its signature is not kept. */
export function requestOf(url: string, body: string): string {
  const { pathname, search, host } = new URL(url);
  return [
    `POST ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `X-Service-Signature: t=${sentAt(body)},v1=…`,
    '',
    body,
  ].join('\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Commands that send a nudge again, signed with the secret in `$SECRET`. */
export function curlOf(url: string, body: string): string {
  return [
    `BODY=${quoted(body)}`,
    `T=${sentAt(body)}`,
    `V1=$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)`,
    `curl -i ${quoted(url)} -H 'Content-Type: application/json' \\`,
    `  -H "X-Service-Signature: t=$T,v1=$V1" -d "$BODY"`,
  ].join('\n');
}

export type Outcome = 'all' | 'failed' | 'delivered' | 'test';

export interface AttemptFilter {
  outcome: Outcome;
  text: string;
  /** The first second to show, or null for no limit. */
  since: number | null;
  /** The second after the last one to show, or null for no limit. */
  before: number | null;
}

/** Returns the attempts that a filter lets through. A text is looked for in ids and outcomes. */
export function attemptsOf(
  attempts: readonly Attempt[],
  { outcome, text, since, before }: AttemptFilter,
): readonly Attempt[] {
  const wanted = text.trim().toLowerCase();
  return attempts.filter((attempt) => {
    if (outcome === 'failed' && attempt.delivered) return false;
    if (outcome === 'delivered' && !attempt.delivered) return false;
    if (outcome === 'test' && !attempt.test) return false;
    if (since !== null && attempt.at < since) return false;
    if (before !== null && attempt.at >= before) return false;
    if (wanted === '') return true;
    const { attemptId, nudgeId, matchId, responseBody, error, statusCode } = attempt;
    const said = [attemptId, nudgeId, matchId, responseBody, error, statusCode].join(' ');
    return said.toLowerCase().includes(wanted);
  });
}

export interface DayOfAttempts {
  day: string;
  sent: number;
  failed: number;
}

/** Counts the attempts of every day from the first to the last, test events included. */
export function attemptsByDay(
  attempts: readonly Attempt[],
  first: string,
  last: string,
): readonly DayOfAttempts[] {
  const counts = new Map<string, DayOfAttempts>();
  for (let day = first; day <= last; day = plusDays(day, 1)) {
    counts.set(day, { day, sent: 0, failed: 0 });
  }
  for (const { at, delivered } of attempts) {
    const count = counts.get(today(at * 1000));
    if (count === undefined) continue;
    count.sent += 1;
    if (!delivered) count.failed += 1;
  }
  return [...counts.values()];
}
