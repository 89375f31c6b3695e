/** The dialogs of the portal: a question, the step-up, a changed account, a sign-in that ended. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Api, Questions } from './api';
import type { SignIn } from './sign-in';

interface DialogProps {
  title: string;
  onLeave(): void;
  children: ComponentChildren;
}

/** A dialog over the page. Escape leaves it; then the focus goes back to where it was. */
export function Dialog({ title, onLeave, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="card"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface QuestionProps {
  title: string;
  /** What will happen. */
  children: ComponentChildren;
  /** The button that does it, in words of its own. */
  act: string;
  onAct(): void;
  onLeave(): void;
}

/** Asks once before an act that takes something away. The safe button has the focus. */
export function Question({ title, children, act, onAct, onLeave }: QuestionProps) {
  return (
    <Dialog title={title} onLeave={onLeave}>
      <p>{children}</p>
      <div class="row">
        <button type="button" class="btn" autofocus onClick={onLeave}>
          Leave it
        </button>
        <button type="button" class="btn out" onClick={onAct}>
          {act}
        </button>
      </div>
    </Dialog>
  );
}

interface ShownOnceProps {
  title: string;
  secret: string;
  /** Where it belongs. */
  children: ComponentChildren;
  onStored(): void;
}

/** A secret, once. Only the button closes it, so that the secret is not lost by a slip. */
export function ShownOnce({ title, secret, children, onStored }: ShownOnceProps) {
  const [copied, setCopied] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied('Copied.'),
      () => setCopied('The browser does not allow it. Select the text.'),
    );
  return (
    <Dialog title={title} onLeave={() => {}}>
      <p>Shown this once. {children}</p>
      <code class="secret">{secret}</code>
      <p role="status">{copied}</p>
      <div class="row">
        <button type="button" class="btn" onClick={copy}>
          Copy
        </button>
        <button type="button" class="btn pri" onClick={onStored}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}

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
      <form onSubmit={send} class="stack">
        <label for="code">Six digits of your authenticator, to {what}</label>
        <input
          id="code"
          ref={field}
          class="field code"
          inputMode="numeric"
          autocomplete="one-time-code"
          maxLength={6}
          required
          autofocus
          aria-describedby="code-problem"
          aria-invalid={problem !== ''}
        />
        <p id="code-problem" class="bad" role="alert">
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
        <button type="button" class="btn out" onClick={() => open.done(true)}>
          Go on all the same
        </button>
      </div>
    </Dialog>
  );
}
