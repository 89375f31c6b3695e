/** The dialogs that a call can open: the step-up, a changed account, a sign-in that has ended. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Api, Questions } from './api';
import { Dialog } from './parts/dialog';
import type { SignIn } from './sign-in';

interface Enrolment {
  secret: string;
  qrSvg: string;
}

interface StepUpProps {
  api: Api;
  what: string;
  refused: Refused;
  onDone(goOn: boolean): void;
}

function Enrol({ enrolment }: { enrolment: Enrolment }) {
  return (
    <>
      <p>Scan this with an authenticator app, or type the text into it. It is shown once.</p>
      <img
        class="qr"
        alt="QR code of the authenticator's secret"
        src={`data:image/svg+xml,${encodeURIComponent(enrolment.qrSvg)}`}
      />
      <code>{enrolment.secret}</code>
    </>
  );
}

const SAID: Record<string, string> = {
  invalid_code: 'This code is wrong, or was used before. Each code works once.',
  step_up_locked: 'Too many wrong codes. The authenticator is locked for a while.',
};

function StepUp({ api, what, refused, onDone }: StepUpProps) {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (refused.reason !== 'totp_not_enrolled') return;
    api
      .factor<Enrolment>('totp/enroll', {})
      .then(setEnrolment, (error: unknown) => setProblem(String(error)));
  }, [api, refused]);
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await api.factor('totp/verify', { code: field.current?.value ?? '' });
      onDone(true);
    } catch (error) {
      const reason = error instanceof Refused ? error.reason : '';
      setProblem(SAID[reason] ?? String(error));
      setBusy(false);
      field.current?.select();
    }
  };
  return (
    <Dialog title="Confirm with a code" onLeave={() => onDone(false)}>
      {enrolment !== null && <Enrol enrolment={enrolment} />}
      <form onSubmit={send} class="field">
        <label for="code">Six digits of your authenticator, to {what}</label>
        <input
          id="code"
          ref={field}
          class="in otp"
          inputMode="numeric"
          autocomplete="one-time-code"
          maxLength={6}
          required
          autofocus
          aria-describedby="code-problem"
          aria-invalid={problem !== ''}
        />
        <p id="code-problem" class="err" role="alert">
          {problem}
        </p>
        <div class="row">
          <button type="button" class="btn" onClick={() => onDone(false)}>
            Cancel
          </button>
          <button class="btn pri" aria-busy={busy} disabled={busy}>
            Confirm and {what}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type Open =
  | { kind: 'step-up'; what: string; refused: Refused; done(goOn: boolean): void }
  | { kind: 'change'; what: string; done(goOn: boolean): void }
  | { kind: 'sign-in'; done(goOn: boolean): void };

function SignInAgain({ signIn, onDone }: { signIn: SignIn; onDone(goOn: boolean): void }) {
  const [said, setSaid] = useState('What you have typed stays where it is.');
  const press = async () => {
    if (await signIn.inWindow()) onDone(true);
    else setSaid('That did not work. Allow this page to open a window, and try again.');
  };
  return (
    <Dialog title="Your sign-in has ended" onLeave={() => onDone(false)}>
      <p role="status">{said}</p>
      <div class="row">
        <button type="button" class="btn pri" autofocus onClick={press}>
          Sign in again
        </button>
      </div>
    </Dialog>
  );
}

/** Answers the questions of `api` with dialogs. */
export function Asking({ api, signIn }: { api: Api; signIn: SignIn }) {
  const [open, setOpen] = useState<Open | null>(null);
  useEffect(() => {
    const ask = (make: (done: (goOn: boolean) => void) => Open) =>
      new Promise<boolean>((answer) => {
        setOpen(
          make((goOn) => {
            setOpen(null);
            answer(goOn);
          }),
        );
      });
    const questions: Questions = {
      stepUp: (what, refused) => ask((done) => ({ kind: 'step-up', what, refused, done })),
      signInAgain: () => ask((done) => ({ kind: 'sign-in', done })),
      goOnDespiteChange: (what) => ask((done) => ({ kind: 'change', what, done })),
    };
    api.ask(questions);
  }, [api]);
  if (open === null) return null;
  if (open.kind === 'sign-in') return <SignInAgain signIn={signIn} onDone={open.done} />;
  if (open.kind === 'step-up') {
    const { what, refused, done } = open;
    return <StepUp api={api} what={what} refused={refused} onDone={done} />;
  }
  return (
    <Dialog title="The account has changed" onLeave={() => open.done(false)}>
      <p>
        Somebody has changed the account since this page read it. Nothing is written yet. Look at
        what it is now, or {open.what} all the same.
      </p>
      <div class="row">
        <button type="button" class="btn" autofocus onClick={() => open.done(false)}>
          Show what it is now
        </button>
        <button type="button" class="btn yes-bad" onClick={() => open.done(true)}>
          Go on all the same
        </button>
      </div>
    </Dialog>
  );
}
