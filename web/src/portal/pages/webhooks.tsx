import { useState } from 'preact/hooks';
import { Refused } from '../api';
import type { Environment } from '../api';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { ANSWER_S, ATTEMPT_DAYS, ATTEMPT_S, FAILURES_MAX } from '../parts/bounds';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Question, ShownOnce } from '../parts/dialog';
import type { Will } from '../parts/dialog';
import { many, timeOf } from '../parts/format';
import { useList } from '../parts/list';
import { Empty } from '../parts/note';
import { Ago } from '../parts/time';
import { lastTries, toldOf } from '../words/attempts';
import type { Attempt, Webhook } from '../words/attempts';
import { Attempts } from './webhook-attempts';
import type { Resending } from './webhook-attempts';
import { Days } from './webhook-days';
import { Address, Endpoint, WhatToDo } from './webhook-endpoint';
import { savesOf, useSaves } from './webhook-saves';
import type { Saves } from './webhook-saves';

interface State {
  webhook?: Webhook;
  signingSecret?: string;
}

/**
 * What the page says if the newest try has failed and the endpoint's count of failed nudges is 0.
 * `saved`: when the address was last saved, which sets that count to 0.
 */
function failedSays(newest: Attempt, saved: number) {
  if (!newest.test && newest.at <= saved) {
    return <>On. Nothing has been sent since the address was saved: send a test event.</>;
  }
  return (
    <>
      <strong>
        The last {newest.test ? 'test event' : 'try'} failed: it {toldOf(newest)}.
      </strong>{' '}
      Nudges are sent to this address all the same.
    </>
  );
}

/** The first sentences of the page: whether nudges arrive, and why not. */
export function answerOf(
  webhook: Webhook | undefined,
  attempts: readonly Attempt[],
  where: string,
  { since, last: saved }: Saves,
) {
  if (webhook === undefined) {
    return `No webhook in ${where}. Your server learns of results only when it polls.`;
  }
  const last = lastTries(attempts)[0];
  if (!webhook.enabled) {
    const why =
      webhook.consecutiveFailures >= FAILURES_MAX ? ` after ${FAILURES_MAX} failures in a row` : '';
    return (
      <>
        <strong>
          Switched off since {timeOf(webhook.disabledAt ?? undefined, 'a while')}
          {why}.
        </strong>{' '}
        Your server hears of nothing; the results wait in the feed.
      </>
    );
  }
  const failing = webhook.consecutiveFailures;
  if (failing > 0) {
    return (
      <>
        <strong>
          {failing === 1 ? 'The last nudge' : `${failing} nudges in a row`} failed
          {last && `${failing === 1 ? ': it' : '; the last one'} ${toldOf(last)}`}.
        </strong>{' '}
        After {many(FAILURES_MAX - failing, 'more failure')} the webhook is switched off. No result
        is lost: all results wait in the feed.
      </>
    );
  }
  const newest = attempts[0];
  if (newest !== undefined && !newest.delivered) return failedSays(newest, saved);
  if (last === undefined) {
    const isNew = since > Date.now() / 1000 - ATTEMPT_S;
    const lately = isNew ? 'yet' : `in the last ${ATTEMPT_DAYS} days`;
    return <>On. Nothing has been sent to this address {lately}: send a test event.</>;
  }
  return (
    <>
      <strong>
        The last nudge was delivered <Ago at={last.at} />,
      </strong>{' '}
      in {last.durationMs} ms.
    </>
  );
}

type Asking = 'rotate' | 'off';

const WILL: Record<Asking, { title: string; act: string; leave: string; will: readonly Will[] }> =
  {
    rotate: {
      title: 'Replace the signing secret?',
      act: 'Replace the secret',
      leave: 'Keep it',
      will: [
        {
          icon: 'stop',
          tone: 'bad',
          says: 'The next nudge is signed with the new one. Until your server has it, nudges fail.',
        },
        { icon: 'check', says: 'No result is lost; the feed has them all.' },
      ],
    },
    off: {
      title: 'Switch the webhook off?',
      act: 'Switch it off',
      leave: 'Leave it on',
      will: [
        { icon: 'no', says: 'No nudge any more; those under way are cut short.' },
        {
          icon: 'check',
          says: 'Results still come into the feed. Save the address again to switch it on.',
        },
      ],
    },
  };

export interface Acts {
  busy: boolean;
  save(url: string): void;
  test(): void;
  resend: Resending['send'];
  ask(what: Asking | null): void;
}

function useActs({ api, environment, tell }: PageProps, again: () => Promise<void>) {
  const path = `webhooks/${environment}`;
  const doing = useAct(again);
  const [secret, show] = useState<string | null>(null);
  const [asking, ask] = useState<Asking | null>(null);
  const save = (url: string) =>
    void doing.act(async () => {
      const saved = await api.write<State>('save the address', 'POST', path, { url });
      if (saved.signingSecret !== undefined) show(saved.signingSecret);
      tell('The address is saved. The webhook is on.');
    });
  const test = () =>
    void doing.act(async () => {
      const tried = await api.write<Attempt>('send a test event', 'POST', `${path}/test`);
      tell(`The test event ${toldOf(tried)}.`, tried.delivered);
    });
  const resend: Resending['send'] = ({ attemptId }, then) =>
    void doing.act(async () => {
      const again = `${path}/attempts/${attemptId}/resend`;
      const tried = await api.write<Attempt>('resend the nudge', 'POST', again);
      tell(`The resent nudge ${toldOf(tried)}.`, tried.delivered);
      then(tried.attemptId);
    });
  const end = (what: Asking) => {
    ask(null);
    void doing.act(async () => {
      if (what === 'off') {
        await api.write('switch it off', 'POST', `${path}/disable`);
        tell('The webhook is off.');
        return;
      }
      const made = await api.write<State>('replace the secret', 'POST', `${path}/rotate-secret`);
      show(made.signingSecret ?? '');
    });
  };
  return {
    acts: { busy: doing.busy, save, test, resend, ask },
    error: doing.error,
    asking,
    end,
    secret,
    show,
  };
}

/** Why an address was refused, which stands at its field. */
const refusalOf = (error: unknown) =>
  error instanceof Refused && error.reason === 'invalid_webhook_url' ? error.message : undefined;

export default function Webhooks(props: PageProps) {
  const { api, account, environment } = props;
  const path = `webhooks/${environment}`;
  const { value, error, readAgain } = useReading<State>(api, path);
  const log = useList<Attempt>(api, `${path}/attempts`, 'attempts', true);
  const changes = useSaves(api, environment);
  const attempts = log.entries ?? [];
  const doing = useActs(props, async () => {
    await Promise.all([changes.readAgain(), readAgain()]);
    await log.readAgain();
  });
  const { acts, asking, secret } = doing;
  const webhook = value?.webhook;
  const saves = savesOf(webhook?.url, changes.value);
  /** The attempts that went to the present address. */
  const ours = attempts.filter(({ at }) => at >= saves.since);
  const offered = mayWrite(account) ? acts : null;
  const refused = refusalOf(doing.error);
  return (
    <PageFrame
      title="Webhooks"
      answer={answerOf(webhook, ours, environment, saves)}
      acts={webhook?.enabled && offered !== null ? <SendTest acts={offered} /> : undefined}
      error={error ?? log.error ?? changes.error}
      loading={!(value && log.entries && changes.value)}
    >
      <Problem error={refused === undefined ? doing.error : null} />
      {webhook === undefined ? (
        <First environment={environment} acts={offered} refused={refused} />
      ) : (
        <>
          <div class="split fill">
            <Endpoint
              key={webhook.url}
              {...{ webhook, environment, refused, attempts: ours, acts: offered }}
            />
            <div class="stack">
              <WhatToDo attempts={ours} />
              {attempts.length > 0 && <Days attempts={attempts} />}
            </div>
          </div>
          <Attempts
            {...{ attempts, environment, webhook }}
            whole={log.whole}
            partnerId={account.partnerId}
            resend={webhook.enabled ? resendingOf(offered) : null}
          />
        </>
      )}
      {secret && <NewSecret {...{ environment, secret }} onStored={() => doing.show(null)} />}
      {asking !== null && (
        <Question
          {...{ environment, ...WILL[asking] }}
          onAct={() => doing.end(asking)}
          onLeave={() => acts.ask(null)}
        />
      )}
    </PageFrame>
  );
}

const resendingOf = (acts: Acts | null): Resending | null =>
  acts === null ? null : { busy: acts.busy, send: acts.resend };

function SendTest({ acts }: { acts: Acts }) {
  return (
    <Button icon="bell" busy={acts.busy} onPress={acts.test}>
      Send a test event
    </Button>
  );
}

interface SecretProps {
  environment: Environment;
  secret: string;
  onStored(): void;
}

function NewSecret(props: SecretProps) {
  return (
    <ShownOnce title="The signing secret" {...props}>
      Your server checks the signature of every nudge with it. The key is the whole text,{' '}
      <code>whsec_</code> included.
    </ShownOnce>
  );
}

interface FirstProps {
  environment: Environment;
  acts: Acts | null;
  refused: string | undefined;
}

/** The page before there is an endpoint. */
function First({ environment, acts, refused }: FirstProps) {
  return (
    <Card flush>
      <Empty icon="hook" title="Hear of results within a second">
        A nudge says "something changed" and nothing else; your server then reads the feed. So a
        lost or forged nudge can never lose or fake a result.
      </Empty>
      {acts !== null && (
        <div class="in-card">
          <Address
            saved=""
            help={`A public host that answers 2xx within ${ANSWER_S} seconds.`}
            main
            act={`Save ${environment} address`}
            {...{ acts, refused }}
          />
        </div>
      )}
    </Card>
  );
}
