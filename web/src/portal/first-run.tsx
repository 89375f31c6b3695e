/** The steps of a new member: the invite, the authenticator, the first key, then the checklist. */

import { useEffect, useState } from 'preact/hooks';
import { go, usePath } from './address';
import { Refused } from './api';
import type { Account, Api } from './api';
import { Asking } from './dialogs';
import { FirstKey } from './first-key';
import { InviteStep, MemberAlready } from './invite-step';
import { Problem } from './page';
import { Button } from './parts/button';
import { CODE_S } from './parts/bounds';
import { CodeForm, EnrolmentSecret, useEnrolment } from './parts/code';
import { Icon } from './parts/icon';
import type { SignIn } from './sign-in';

const STEPS = ['Invite', 'Authenticator', 'First key', 'First match'] as const;
/** `member`: a member has opened an invite's link, which is no step. */
type StepName = 'member' | 'invite' | 'authenticator' | 'key';
const ORDER: Record<StepName, number> = { member: -1, invite: 0, authenticator: 1, key: 2 };

const TITLES: Record<StepName, string> = {
  member: 'Invite',
  invite: 'Invite',
  authenticator: 'Authenticator',
  key: 'First key',
};

function Steps({ at }: { at: number }) {
  return (
    <ol class="steps" aria-label="Four steps">
      {STEPS.map((name, index) => (
        <li key={name} aria-current={index === at ? 'step' : undefined}>
          {index < at ? <Icon name="ok" /> : `${index + 1} `}
          {name}
          {index < at && <span class="unseen">, done</span>}
        </li>
      ))}
    </ol>
  );
}

const LINK = /^\/portal\/join\/([^/]+)$/;

/** What the member still needs, or null if nothing: then the checklist follows. */
async function nextStep(api: Api): Promise<{ step: StepName | null; account: Account | null }> {
  try {
    const account = await api.account();
    if (LINK.test(location.pathname)) return { step: 'member', account };
    if (!account.stepUp.enrolled) return { step: 'authenticator', account };
    if (account.role === 'viewer') return { step: null, account };
    const { keys } = await api.read<{ keys: { status: string }[] }>('keys?limit=500');
    const works = keys.some(({ status }) => status !== 'revoked');
    return { step: works ? null : 'key', account };
  } catch (error) {
    if (!(error instanceof Refused) || error.reason !== 'not_a_partner_admin') throw error;
    return { step: 'invite', account: null };
  }
}

export interface FirstRunProps {
  api: Api;
  signIn: SignIn;
  onLeave(): void;
  /** Is called when the member needs nothing more. The pages then open. */
  onReady(): void;
}

export default function FirstRun({ api, signIn, onLeave, onReady }: FirstRunProps) {
  const path = usePath();
  const [at, setAt] = useState<{ step: StepName; account: Account | null } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [held, hold] = useState(false);
  const look = () =>
    nextStep(api).then(({ step, account }) => {
      if (step !== null) {
        setAt({ step, account });
        return;
      }
      go('/portal/test', true);
      onReady();
    }, setError);
  useEffect(() => {
    void look();
  }, []);
  useEffect(() => {
    if (at === null) return;
    document.title = `${TITLES[at.step]} · Portal`;
    document.querySelector<HTMLElement>('main h1')?.focus();
  }, [at]);
  const joining = LINK.exec(path)?.[1] ?? null;
  /** Goes from the address of an invite's link to `/portal/start`, and shows what comes next. */
  const start = () => {
    go('/portal/start', true);
    return look();
  };
  const isTask = at !== null && ORDER[at.step] > ORDER.invite;
  return (
    <div class="alone" data-env="test">
      <header>{at !== null && at.step !== 'member' && <Steps at={ORDER[at.step]} />}</header>
      <main class={isTask ? 'card big' : 'card'}>
        <div class="in-card stack">
          <Problem error={error} />
          {at === null && error === null && <h1>Reading …</h1>}
          {at?.step === 'member' && <MemberAlready account={at.account!} onGoOn={start} />}
          {at?.step === 'invite' && (
            <InviteStep
              key={joining}
              {...{ api, onLeave }}
              email={signIn.email}
              named={joining}
              onDone={start}
            />
          )}
          {at?.step === 'authenticator' && <Authenticator api={api} onDone={look} />}
          {at?.step === 'key' && <FirstKey api={api} onHeld={hold} onDone={look} />}
        </div>
      </main>
      <Foot email={signIn.email} {...{ held, onLeave }} onLater={isTask ? onReady : null} />
      <Asking api={api} signIn={signIn} environment="test" tell={() => {}} />
    </div>
  );
}

interface FootProps {
  email: string;
  /** Whether a key is shown that is not stored yet: nothing leads away from it. */
  held: boolean;
  onLater: (() => void) | null;
  onLeave(): void;
}

function Foot({ email, held, onLater, onLeave }: FootProps) {
  return (
    <footer class="row small quiet">
      <span>{email}</span>
      {!held && onLater !== null && (
        <Button kind="plain" small onPress={onLater}>
          Do this later
        </Button>
      )}
      {!held && (
        <Button kind="plain" small onPress={onLeave}>
          Sign out
        </Button>
      )}
    </footer>
  );
}

function Authenticator({ api, onDone }: { api: Api; onDone(): void }) {
  const { enrolment, error } = useEnrolment(api, 1);
  return (
    <>
      <div class="stack tight">
        <h1 tabIndex={-1}>Connect an authenticator</h1>
        <p class="quiet">
          Changes to keys, prices and people need a code from your phone, so nobody can make them
          with a stolen laptop alone.
        </p>
      </div>
      <Problem error={error} />
      {enrolment !== null && (
        <div class="cols">
          <div class="stack tight">
            <h2>1. Scan</h2>
            <EnrolmentSecret enrolment={enrolment} />
          </div>
          <div class="stack tight">
            <h2>2. Enter the first code</h2>
            <CodeForm
              isFirst
              api={api}
              label="Six digits from the app"
              help={`A new code comes every ${CODE_S} seconds. The one before it still counts.`}
              foot={(busy) => (
                <Button kind="pri" busy={busy}>
                  Confirm
                </Button>
              )}
              onDone={onDone}
            />
            <p class="small quiet">
              Keep the phone: only another admin or the platform can reset a lost authenticator.
            </p>
          </div>
        </div>
      )}
    </>
  );
}
