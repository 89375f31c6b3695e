/** Verifies the nudges that the service sends to a webhook endpoint, with Web Crypto. */

export const SIGNATURE_HEADER = 'X-Service-Signature';

/**
 * Seconds by which the time of a signature may be before or after the clock. Without such a limit,
 * a recorded nudge could be replayed for ever.
 */
export const TOLERANCE_SECONDS = 300;

/**
 * The signature is missing, wrong, or too far from the clock, or the body is no nudge. Answer 400
 * and do nothing else.
 */
export class InvalidSignature extends Error {
  override name = 'InvalidSignature';
}

/** Tells you to read the feed; it carries no result. `at`: when it was sent, epoch seconds. */
export interface Nudge {
  readonly type: string;
  readonly partnerId: string;
  readonly at: number;
}

/**
 * Returns the nudge of a signed body. Throws `InvalidSignature`.
 *
 * `rawBody` is the body as it was received, before anything decodes it. For a few minutes after a
 * rotation give both secrets, so that no nudge is lost.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  header: string | null | undefined,
  rawBody: Uint8Array | ArrayBuffer,
  options: { now?: number; toleranceSeconds?: number } = {},
): Promise<Nudge> {
  if (!(rawBody instanceof Uint8Array) && !(rawBody instanceof ArrayBuffer)) {
    throw new TypeError('rawBody must be the bytes that were received');
  }
  const known = typeof secrets === 'string' ? [secrets] : [...secrets];
  if (known.length === 0 || known.some((secret) => !secret)) {
    throw new TypeError('give the signing secret of the endpoint');
  }
  const { now = Date.now() / 1000, toleranceSeconds = TOLERANCE_SECONDS } = options;
  const parts = new Map<string, string>();
  for (const part of (header ?? '').split(',')) {
    const [name = '', ...value] = part.split('=');
    parts.set(name, value.join('='));
  }
  const at = parts.get('t') ?? '';
  const claimed = parts.get('v1') ?? '';
  if (!/^[0-9]{1,12}$/.test(at) || !/^[0-9a-f]{64}$/.test(claimed)) {
    throw new InvalidSignature('the signature header is missing or malformed');
  }
  if (!(Math.abs(now - Number(at)) <= toleranceSeconds)) {
    throw new InvalidSignature("the signature is too old, or this machine's clock is wrong");
  }
  const body = new Uint8Array(rawBody);
  const begin = new TextEncoder().encode(`${at}.`);
  const signed = new Uint8Array(begin.length + body.length);
  signed.set(begin);
  signed.set(body, begin.length);
  const signature = Uint8Array.from({ length: 32 }, (_, place) =>
    Number.parseInt(claimed.slice(2 * place, 2 * place + 2), 16),
  );
  // All are compared, so that the time does not tell which secret is in use.
  const verdicts = await Promise.all(known.map((secret) => isSigned(secret, signature, signed)));
  if (!verdicts.includes(true)) throw new InvalidSignature('the signature is not valid');
  return readNudge(body);
}

async function isSigned(
  secret: string,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  // The platform compares in constant time.
  return crypto.subtle.verify('HMAC', key, signature, signed);
}

function readNudge(body: Uint8Array): Nudge {
  let sent: unknown;
  try {
    sent = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    sent = null;
  }
  const { type, partnerId, at } = (sent ?? {}) as Partial<Nudge>;
  if (typeof type !== 'string' || typeof partnerId !== 'string' || typeof at !== 'number') {
    throw new InvalidSignature('the body is signed, but it is not a nudge');
  }
  return { type, partnerId, at };
}
