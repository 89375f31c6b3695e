/** Codes of an authenticator: the field for one, and the enrolment of a new authenticator. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Refused } from '../api';
import type { Account, Api } from '../api';
import { CODE_S, WRONG_CODES_MAX } from './bounds';
import { Icon } from './icon';
import { clockOf, many } from './format';
import { Note } from './note';

const DIGITS = 6;

/** Why no code is checked now, in words; nothing without a lock. */
export function lockOf({ lockedUntil, needsReset }: Account['stepUp']): string {
  if (needsReset) {
    return 'Too many wrong codes. Another admin or the platform has to reset your authenticator.';
  }
  if (lockedUntil === undefined) return '';
  const when = `${clockOf(lockedUntil)} UTC`;
  return `${WRONG_CODES_MAX} wrong codes. You can try again at ${when}. Nobody else is locked out.`;
}

/** Reads the state of the codes. It leaves alone the revision that later writes carry. */
const stepUpOf = async (api: Api) => (await api.read<Account>('account')).stepUp;

/** What a refused code means for the person, in words. */
export async function meaningOf(api: Api, error: unknown, isFirst: boolean): Promise<string> {
  const reason = error instanceof Refused ? error.reason : '';
  if (reason !== 'step_up_locked' && reason !== 'invalid_code') {
    return error instanceof Error ? error.message : String(error);
  }
  const stepUp = await stepUpOf(api).catch(() => null);
  const lock = stepUp === null ? '' : lockOf(stepUp);
  if (lock !== '') return lock;
  if (reason === 'step_up_locked') return (error as Refused).message;
  const triesLeft = stepUp?.triesLeft;
  const left =
    triesLeft === undefined ? '' : ` Before a lock: ${many(triesLeft, 'try', 'tries')}.`;
  const why = isFirst
    ? 'This code does not belong to the secret shown here. Scan it, and enter the next code.'
    : 'This code is wrong, or was used before. Wait for the next one: each works once.';
  return why + left;
}

interface CodeFormProps {
  api: Api;
  label: ComponentChildren;
  help?: ComponentChildren;
  /** Whether the code is the first one of a secret that is shown beside the field. */
  isFirst?: boolean;
  /** Returns the buttons below the field. `busy`: a code is being checked. */
  foot(busy: boolean): ComponentChildren;
  onDone(): void;
}

/**
 * The fault that the field shows, and what sets it. If codes are locked, the field says so from the
 * start, unless a code is refused before the lock has been read.
 */
function useProblem(api: Api) {
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let wanted = true;
    // If this cannot be read, a lock is only shown after a code has been sent.
    stepUpOf(api).then(
      (stepUp) => wanted && setProblem((said) => said || lockOf(stepUp)),
      () => null,
    );
    return () => {
      wanted = false;
    };
  }, [api]);
  return [problem, setProblem] as const;
}

/** A field for six digits. The sixth sends them. A wrong code stays in the field, selected. */
export function CodeForm({ api, label, help, isFirst = false, foot, onDone }: CodeFormProps) {
  const [problem, setProblem] = useProblem(api);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const under = useRef(false);
  const id = useId();
  const send = async (event?: Event) => {
    event?.preventDefault();
    if (under.current) return;
    under.current = true;
    setBusy(true);
    setProblem('');
    try {
      await api.factor('totp/verify', { code: field.current?.value ?? '' });
      onDone();
    } catch (error) {
      setProblem(await meaningOf(api, error, isFirst));
      field.current?.select();
    } finally {
      under.current = false;
      setBusy(false);
    }
  };
  const typed = () => {
    const digits = (field.current?.value ?? '').replace(/\D/g, '').slice(0, DIGITS);
    if (field.current !== null) field.current.value = digits;
    if (digits.length === DIGITS) void send();
  };
  return (
    <form onSubmit={send} class="stack">
      <div class="field">
        <label for={id}>{label}</label>
        <input
          id={id}
          ref={field}
          class="in otp"
          inputMode="numeric"
          autocomplete="one-time-code"
          required
          autofocus
          aria-describedby={`${id}-said`}
          aria-invalid={problem !== ''}
          onInput={typed}
        />
        <div id={`${id}-said`}>
          <p class="err" role="alert">
            {problem !== '' && <Icon name="no" />}
            <span>{problem}</span>
          </p>
          {help !== undefined && <small>{help}</small>}
        </div>
      </div>
      {foot(busy)}
    </form>
  );
}

interface Enrolment {
  secret: string;
  otpauthUri: string;
  qrSvg: string;
  replacesPending: boolean;
}

/** A secret in groups of four, which is easier to type. */
const grouped = (secret: string) => secret.replace(/(.{4})(?=.)/g, '$1 ');

/**
 * Enrols an authenticator, whose secret is shown once. Its first code puts it in force. Each new
 * `turn` enrols again; while `turn` is 0, nothing is enrolled.
 */
export function useEnrolment(api: Api, turn: number) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    setEnrolment(null);
    setError(null);
    if (turn === 0) return;
    api.write<Enrolment>('connect an authenticator', 'POST', 'totp/enroll', {}).then(
      setEnrolment,
      setError,
    );
  }, [api, turn]);
  return { enrolment, error };
}

export function EnrolmentSecret({ enrolment }: { enrolment: Enrolment }) {
  return (
    <div class="stack tight">
      <p>Scan this with an authenticator app. It is shown once.</p>
      {enrolment.replacesPending && (
        <Note tone="warn">
          This is a new secret. If you have scanned an earlier one, remove it from the app: its
          codes are not accepted.
        </Note>
      )}
      <img
        class="qr"
        alt="QR code for your authenticator app. The same secret stands below as text."
        src={`data:image/svg+xml,${encodeURIComponent(enrolment.qrSvg)}`}
      />
      <details>
        <summary>Cannot scan? Type this</summary>
        <p>
          <code data-secret={enrolment.secret}>{grouped(enrolment.secret)}</code>
        </p>
        <p class="small quiet">
          Time based, six digits, {CODE_S} seconds.{' '}
          <a href={enrolment.otpauthUri}>Open it in an app on this device</a>
        </p>
      </details>
    </div>
  );
}
