import { useEffect, useRef, useState } from 'preact/hooks';
import { Question, ShownOnce } from '../parts/dialog';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { timeOf } from '../parts/format';

interface Webhook {
  url: string;
  enabled: boolean;
  consecutiveFailures: number;
}

interface State {
  webhook?: Webhook;
  signingSecret?: string;
}

interface Attempt {
  attemptId: string;
  at: number;
  try: number;
  delivered: boolean;
  statusCode?: number;
  durationMs: number;
  responseBody: string;
  matchId?: string;
  test: boolean;
  error?: string;
}

/** Failures in a row after which the service switches an endpoint off. */
const FAILURES_MAX = 10;

function answerOf(webhook: Webhook | undefined): string {
  if (webhook === undefined) {
    return (
      'No webhook yet. A nudge says "something changed" and nothing else, so a lost or forged ' +
      'one can never lose or fake a result.'
    );
  }
  if (!webhook.enabled) {
    return 'It is switched off. Save the address again to switch it on. No result is lost.';
  }
  const failing = webhook.consecutiveFailures;
  return failing === 0
    ? `Nudges go to ${webhook.url}.`
    : `Nudges to ${webhook.url} have failed ${failing} times in a row. After ${FAILURES_MAX} ` +
        'it is switched off.';
}

type Asking = 'rotate' | 'off';

const ASKED = {
  rotate: {
    title: 'Replace the secret?',
    act: 'Replace the secret',
    says:
      'The next nudge is signed with the new one. Until your server has it, nudges fail. ' +
      'No result is lost.',
  },
  off: {
    title: 'Switch the webhook off?',
    act: 'Switch it off',
    says: 'No nudge any more; those under way are cut short. Results go on into the feed.',
  },
} as const;

export default function Webhooks({ api, account, environment, tell }: PageProps) {
  const path = `webhooks/${environment}`;
  const { value, error, readAgain } = useReading<State>(api, path);
  const attempts = useReading<{ attempts: Attempt[] }>(api, `${path}/attempts?limit=100`);
  const doing = useAct(async () => {
    await readAgain();
    await attempts.readAgain();
  });
  const [secret, show] = useState<string | null>(null);
  const [asking, ask] = useState<Asking | null>(null);
  const webhook = value?.webhook;
  const save = (url: string) =>
    doing.act(async () => {
      const saved = await api.write<State>('save the address', 'POST', path, { url });
      if (saved.signingSecret !== undefined) show(saved.signingSecret);
      tell('The address is saved.');
    });
  const test = () =>
    doing.act(async () => {
      const tried = await api.write<Attempt>('send a test event', 'POST', `${path}/test`);
      tell(`It ${outcomeOf(tried)}.`.replace('answered', 'was answered with'));
    });
  const end = (what: Asking) => {
    ask(null);
    void doing.act(async () => {
      if (what === 'off') {
        await api.write('switch it off', 'POST', `${path}/disable`);
        return;
      }
      const made = await api.write<State>('replace the secret', 'POST', `${path}/rotate-secret`);
      show(made.signingSecret ?? '');
    });
  };
  return (
    <PageFrame
      title="Webhooks"
      answer={answerOf(webhook)}
      error={error ?? attempts.error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      {mayWrite(account) && (
        <Acts {...{ webhook, environment, save, test, ask }} busy={doing.busy} />
      )}
      <Attempts attempts={attempts.value?.attempts ?? []} />
      {secret !== null && (
        <ShownOnce title="The signing secret" secret={secret} onStored={() => show(null)}>
          Your server checks the signature of every nudge with it.
        </ShownOnce>
      )}
      {asking !== null && (
        <Question {...ASKED[asking]} onAct={() => end(asking)} onLeave={() => ask(null)}>
          {ASKED[asking].says}
        </Question>
      )}
    </PageFrame>
  );
}

interface ActsProps {
  webhook: Webhook | undefined;
  environment: string;
  busy: boolean;
  save(url: string): void;
  test(): void;
  ask(what: Asking): void;
}

function Acts({ webhook, environment, busy, save, test, ask }: ActsProps) {
  const field = useRef<HTMLInputElement>(null);
  const stored = webhook?.url;
  useEffect(() => {
    if (field.current !== null && stored !== undefined) field.current.value = stored;
  }, [stored]);
  const send = (event: Event) => {
    event.preventDefault();
    save(field.current?.value.trim() ?? '');
  };
  return (
    <>
      <form class="row end" onSubmit={send}>
        <div class="field">
          <label for="url">Address, with https</label>
          <input id="url" ref={field} class="in" maxLength={2048} required />
        </div>
        <button class="btn pri" disabled={busy}>
          Save {environment} address
        </button>
      </form>
      {webhook?.enabled && (
        <div class="row">
          <button type="button" class="btn" disabled={busy} onClick={test}>
            Send a test event
          </button>
          <button type="button" class="btn" disabled={busy} onClick={() => ask('rotate')}>
            Replace the secret
          </button>
          <button type="button" class="btn no" disabled={busy} onClick={() => ask('off')}>
            Switch it off
          </button>
        </div>
      )}
    </>
  );
}

const outcomeOf = ({ statusCode, error }: Attempt) =>
  statusCode === undefined ? `got no answer: ${error ?? 'unknown'}` : `answered ${statusCode}`;

function Attempts({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0) return <p>Nothing has been sent in the last thirty days.</p>;
  return (
    <div class="scroll" role="region" aria-label="Attempts" tabIndex={0}>
      <table class="t">
        <caption>The newest hundred tries</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Try</th>
            <th scope="col">Outcome</th>
            <th scope="col">Took</th>
            <th scope="col">About</th>
            <th scope="col">Your server said</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt.attemptId}>
              <th scope="row">{timeOf(attempt.at, '')}</th>
              <td>{attempt.try}</td>
              <td class={attempt.delivered ? 'good' : 'bad'}>{outcomeOf(attempt)}</td>
              <td>{attempt.durationMs} ms</td>
              <td>
                {attempt.test ? 'test event' : <code>{attempt.matchId ?? 'several matches'}</code>}
              </td>
              <td>
                <code>{attempt.responseBody}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
