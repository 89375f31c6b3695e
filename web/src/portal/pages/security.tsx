import { useState } from 'preact/hooks';
import type { Account } from '../api';
import { PageFrame, Problem, useReading } from '../page';
import type { PageProps } from '../page';
import { FRESH_MIN } from '../parts/bounds';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { CodeForm, EnrolmentSecret, lockOf, useEnrolment } from '../parts/code';
import { clockOf } from '../parts/format';
import { Note } from '../parts/note';

function Answer({ stepUp }: Account) {
  if (!stepUp.enrolled) {
    return (
      <>
        <strong>No authenticator is connected.</strong> Changes to keys, prices and people need a
        code from your phone, so nobody can make them with a stolen laptop alone.
      </>
    );
  }
  const lock = lockOf(stepUp);
  if (lock !== '') return <strong>{lock}</strong>;
  return (
    <>
      <strong>Your authenticator is connected.</strong>{' '}
      {stepUp.until === undefined
        ? 'You are asked for a code at the next change that needs one.'
        : `You gave a code. It counts until ${clockOf(stepUp.until)} UTC; for keys and secrets, ` +
          `for ${FRESH_MIN} minutes only.`}
    </>
  );
}

export default function Security({ api, account: before, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Account>(api, 'account');
  const [turn, take] = useState(0);
  const { enrolment, error: refused } = useEnrolment(api, turn);
  const account = value ?? before;
  const { enrolled } = account.stepUp;
  const done = () => {
    take(0);
    tell('The authenticator is connected.');
    void readAgain();
  };
  return (
    <PageFrame
      title="Your authenticator"
      answer={<Answer {...account} />}
      error={error}
      loading={value === null}
    >
      <Problem error={refused} />
      {enrolment !== null ? (
        <Card title={enrolled ? 'Connect the new one' : 'Connect an authenticator'}>
          <div class="cols">
            <EnrolmentSecret enrolment={enrolment} />
            <CodeForm
              api={api}
              label="First six digits from the app"
              isFirst
              help={enrolled ? 'Until this code is right, the old one counts.' : undefined}
              foot={(busy) => (
                <div class="row">
                  <Button onPress={() => take(0)}>Cancel</Button>
                  <Button kind="pri" busy={busy}>
                    Confirm
                  </Button>
                </div>
              )}
              onDone={done}
            />
          </div>
        </Card>
      ) : (
        <div class="row">
          <Button
            {...(enrolled ? {} : { kind: 'pri' as const })}
            icon="lock"
            onPress={() => take(turn + 1)}
          >
            {enrolled ? 'Replace the authenticator' : 'Connect an authenticator'}
          </Button>
        </div>
      )}
      <Note>
        Lost your phone? Another admin can reset your authenticator on the page{' '}
        <a href="/portal/members">Members</a>. If there is none, ask the platform.
      </Note>
    </PageFrame>
  );
}
