/** The endpoint of an environment, and what its last nudges mean. */

import { useState } from 'preact/hooks';
import type { Environment } from '../api';
import { FAILURES_MAX, URL_MAX } from '../parts/bounds';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Field } from '../parts/field';
import { many, timeOf } from '../parts/format';
import { Tag } from '../parts/note';
import { Ago } from '../parts/time';
import { adviceOf, newest } from '../words/attempts';
import type { Attempt, Webhook } from '../words/attempts';
import type { Acts } from './webhooks';

function State({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Tag tone="bad">switched off</Tag>;
  if (webhook.consecutiveFailures > 0) return <Tag tone="warn">on, failing</Tag>;
  return (
    <Tag tone="good" icon="check">
      on
    </Tag>
  );
}

interface EndpointProps {
  webhook: Webhook;
  attempts: readonly Attempt[];
  environment: Environment;
  /** What the role may do, or null. */
  acts: Acts | null;
  /** Why the service has refused the address that was sent last. */
  refused: string | undefined;
}

export function Endpoint({ webhook, attempts, environment, acts, refused }: EndpointProps) {
  const taken = attempts.find(({ delivered, test }) => delivered && !test);
  return (
    <Card title="Endpoint" aside={<State webhook={webhook} />}>
      {acts === null ? (
        <p>
          <code>{webhook.url}</code>
        </p>
      ) : (
        <Address
          saved={webhook.url}
          help="Saving switches it on and clears the failures. The secret stays."
          main={!webhook.enabled}
          act={webhook.enabled ? `Save ${environment} address` : 'Switch the webhook on again'}
          {...{ acts, refused }}
        />
      )}
      <dl class="kv dense">
        <dt>Signing secret</dt>
        <dd class="row">
          set {timeOf(webhook.secretRotatedAt)}
          {acts !== null && (
            <Button small busy={acts.busy} onPress={() => acts.ask('rotate')}>
              Replace the secret
            </Button>
          )}
        </dd>
        <dt>Failures in a row</dt>
        <dd>
          {webhook.consecutiveFailures} of {FAILURES_MAX}
        </dd>
        <dt>Last success</dt>
        <dd>{taken === undefined ? 'none at this address' : <Ago at={taken.at} />}</dd>
      </dl>
      {acts !== null && webhook.enabled && (
        <div class="last">
          <Button kind="no" busy={acts.busy} onPress={() => acts.ask('off')}>
            Switch it off
          </Button>
        </div>
      )}
    </Card>
  );
}

interface AddressProps {
  saved: string;
  help: string;
  /** Whether the button is the main one of the page. */
  main: boolean;
  act: string;
  acts: Acts;
  refused: string | undefined;
}

/** The field of an address. A refusal stands there as long as the refused address does. */
export function Address({ saved, help, main, act, acts, refused }: AddressProps) {
  const [url, type] = useState(saved);
  const [sent, setSent] = useState('');
  const send = (event: Event) => {
    event.preventDefault();
    setSent(url);
    acts.save(url.trim());
  };
  return (
    <form class="stack" onSubmit={send}>
      <Field
        label="Address, with https"
        help={help}
        error={sent === url ? refused : undefined}
        value={url}
        maxLength={URL_MAX}
        required
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <div>
        <Button {...(main ? { kind: 'pri' as const } : {})} busy={acts.busy}>
          {act}
        </Button>
      </div>
    </form>
  );
}

/** Says beside a failing endpoint what to do, and beside a working one its last nudges. */
export function WhatToDo({ attempts }: { attempts: readonly Attempt[] }) {
  const advice = adviceOf(attempts);
  const last = newest(attempts);
  if (advice !== null) {
    const body = last[0]?.responseBody ?? '';
    return (
      <Card title="What to do">
        <p>
          <strong>{advice.title}</strong>
        </p>
        {body !== '' && (
          <pre class="wrap" tabIndex={0} role="region" aria-label="What your server said">
            {body}
          </pre>
        )}
        <p>{advice.does}</p>
        <p>
          <a href="/docs/webhooks">Receiving webhooks, with code</a>
        </p>
      </Card>
    );
  }
  if (last.length === 0) {
    return (
      <Card title="Last nudges">
        <p class="quiet">None yet. Send a test event, or play a test match.</p>
      </Card>
    );
  }
  return <LastNudges last={last} />;
}

function LastNudges({ last }: { last: readonly Attempt[] }) {
  const failed = last.filter(({ delivered }) => !delivered).length;
  const took = last.map(({ durationMs }) => durationMs).sort((one, other) => one - other);
  const below = (share: number) => took[Math.ceil(took.length * share) - 1];
  const delivered = last.length - failed;
  const counted = `${many(last.length, 'nudge')}: ${delivered} delivered, ${failed} failed`;
  return (
    <Card title={`Last ${many(last.length, 'nudge')}`}>
      <div class="strip" role="img" aria-label={counted}>
        {[...last].reverse().map(({ attemptId, delivered }) => (
          <i key={attemptId} class={delivered ? '' : 'f'} />
        ))}
      </div>
      <p class="quiet">
        Half of them took at most {below(0.5)} ms, 95 of 100 at most {below(0.95)} ms.
      </p>
    </Card>
  );
}
