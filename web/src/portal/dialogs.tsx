/** The dialogs that a call can open: the step-up, a changed account, a sign-in that has ended. */

import { useEffect, useState } from 'preact/hooks';
import type { Api, Environment, Questions, Refused, Versus } from './api';
import { useChange } from './changes';
import { Problem } from './page';
import { FRESH_MIN, WINDOW_MIN } from './parts/bounds';
import { Button } from './parts/button';
import { CodeForm, EnrolmentSecret, useEnrolment } from './parts/code';
import { Dialog } from './parts/dialog';
import { agoOf } from './parts/format';
import { Table } from './parts/table';
import type { SignIn } from './sign-in';

type Done = (goOn: boolean) => void;

interface StepUpProps {
  api: Api;
  what: string;
  refused: Refused;
  environment: Environment | undefined;
  onDone: Done;
}

function StepUp({ api, what, refused, environment, onDone }: StepUpProps) {
  const { enrolment, error } = useEnrolment(api, Number(refused.reason === 'totp_not_enrolled'));
  const foot = (busy: boolean) => (
    <div class="row foot-row">
      <Button onPress={() => onDone(false)}>Cancel</Button>
      <Button kind="pri" busy={busy}>
        Confirm and {what}
      </Button>
    </div>
  );
  return (
    <Dialog
      title="Code from your authenticator"
      environment={environment}
      onLeave={() => onDone(false)}
    >
      <p class="quiet">
        To <strong>{what}</strong>. It is done right after the code. Nothing is lost if you cancel.
      </p>
      <Problem error={error} />
      {enrolment !== null && <EnrolmentSecret enrolment={enrolment} />}
      <CodeForm
        api={api}
        label="Six digits"
        isFirst={enrolment !== null}
        help={
          `A code counts for ${FRESH_MIN} minutes for keys and secrets, and for ` +
          `${WINDOW_MIN} minutes for the rest.`
        }
        foot={foot}
        onDone={() => onDone(true)}
      />
    </Dialog>
  );
}

interface ChangedProps {
  api: Api;
  what: string;
  versus: Versus[] | null;
  environment: Environment | undefined;
  onDone: Done;
}

/** Shows what somebody else has changed, before that is overwritten. */
function Changed({ api, what, versus, environment, onDone }: ChangedProps) {
  const change = useChange(api);
  const foot = (
    <>
      <Button autofocus onPress={() => onDone(false)}>
        {versus === null ? 'Show what it is now' : 'Keep theirs'}
      </Button>
      <Button kind="yes-bad" onPress={() => onDone(true)}>
        {versus === null ? 'Continue anyway' : 'Overwrite with mine'}
      </Button>
    </>
  );
  return (
    <Dialog
      title="The account has changed"
      environment={environment}
      onLeave={() => onDone(false)}
      foot={foot}
    >
      <p>
        Somebody has changed the account since this page read it. None of your changes is saved yet.
      </p>
      {change !== null && (
        <p>
          The last change: <strong>{change.who}</strong>, {agoOf(change.at)}: {change.what}.
        </p>
      )}
      {versus === null ? (
        <p>Look at what it is now, or {what} all the same.</p>
      ) : (
        <Table
          label="Both versions"
          columns={[
            { head: 'What', cell: (row) => row.what },
            { head: 'Theirs, saved', cell: (row) => row.theirs },
            { head: 'Yours', cell: (row) => <strong>{row.yours}</strong> },
          ]}
          rows={versus}
          keyOf={(row) => row.what}
        />
      )}
    </Dialog>
  );
}

const NOT_SIGNED_IN = {
  failed: 'That did not work. Allow this page to open a window, and try again.',
  another:
    'The window has signed in somebody else. This page stays with the person who opened it: ' +
    'sign in as that person, or reload the page to go on as the other.',
} as const;

function SignInAgain({ signIn, onDone }: { signIn: SignIn; onDone: Done }) {
  const [said, setSaid] = useState('What you have typed stays where it is.');
  const press = async () => {
    const problem = await signIn.inWindow();
    if (problem === null) onDone(true);
    else setSaid(NOT_SIGNED_IN[problem]);
  };
  const foot = (
    <Button kind="pri" autofocus onPress={() => void press()}>
      Sign in again
    </Button>
  );
  return (
    <Dialog title="Your sign-in has ended" onLeave={() => onDone(false)} foot={foot}>
      <p role="status">{said}</p>
    </Dialog>
  );
}

export const KEPT_TOO = 'A change by somebody else was kept too.';
export const MERGED = `Saved. ${KEPT_TOO}`;

type Open =
  | { kind: 'step-up'; what: string; refused: Refused; done: Done }
  | { kind: 'change'; what: string; versus: Versus[] | null; done: Done }
  | { kind: 'sign-in'; done: Done };

interface AskingProps {
  api: Api;
  signIn: SignIn;
  environment?: Environment;
  tell(text: string): void;
}

/** Answers the questions of `api` with dialogs. */
export function Asking({ api, signIn, environment, tell }: AskingProps) {
  const [open, setOpen] = useState<Open | null>(null);
  useEffect(() => {
    const ask = (make: (done: Done) => Open) =>
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
      goOnDespiteChange: (what, versus) => ask((done) => ({ kind: 'change', what, versus, done })),
      tellMerged: () => tell(MERGED),
    };
    api.ask(questions);
  }, [api]);
  if (open === null) return null;
  if (open.kind === 'sign-in') return <SignInAgain signIn={signIn} onDone={open.done} />;
  const { what, done: onDone } = open;
  if (open.kind === 'step-up') {
    return <StepUp {...{ api, what, environment, onDone }} refused={open.refused} />;
  }
  return <Changed {...{ api, what, environment, onDone }} versus={open.versus} />;
}
