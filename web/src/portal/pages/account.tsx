import { useState } from 'preact/hooks';
import { Stop, SwitchOff } from '../account-stops';
import { Refused } from '../api';
import type { Account, Environment } from '../api';
import { mayRule, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Id } from '../parts/copy';
import { Dialog, WillHappen } from '../parts/dialog';
import { Field } from '../parts/field';
import { dayOf } from '../parts/format';
import { Icon } from '../parts/icon';
import { Tag } from '../parts/note';

function Answer({ name, active, adminDomain }: Account) {
  if (!active) {
    return (
      <>
        <strong>{name} is switched off.</strong> Nobody can play and no key works. Everything can
        still be read and changed.
      </>
    );
  }
  return (
    <>
      <strong>{name} is on.</strong>{' '}
      {adminDomain === undefined
        ? 'Anybody with a verified address can be invited: no domain is set.'
        : `Only addresses of ${adminDomain} can be invited.`}
    </>
  );
}

type Open = 'domain' | 'off' | 'stop';

export default function AccountPage({ api, account: before, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Account>(api, 'account');
  const doing = useAct(readAgain);
  const [open, setOpen] = useState<Open | null>(null);
  const account = value ?? before;
  const rules = mayRule(account);
  const close = () => setOpen(null);
  const run = (what: string, path: string, body: object, done: string) => {
    close();
    void doing.act(async () => {
      await api.write(what, 'POST', path, body);
      tell(done);
    });
  };
  const { name } = account;
  const on = () => run('switch the account on', 'account/reactivate', {}, `${name} is on.`);
  const off = () =>
    run('switch the account off', 'account/deactivate', {}, `${name} is switched off.`);
  const stop = (where: Environment) => {
    const done = `Play in ${where} has ended. Keys still work.`;
    run(`stop ${where}`, 'emergency-stop', { environment: where }, done);
  };
  const left = () => {
    close();
    void readAgain();
  };
  return (
    <PageFrame
      title="Account"
      answer={<Answer {...account} />}
      acts={
        rules &&
        !account.active && (
          <Button kind="pri" busy={doing.busy} onPress={on}>
            Switch it on again
          </Button>
        )
      }
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <Facts account={account} onDomain={rules ? () => setOpen('domain') : null} />
      {rules && <Danger account={account} busy={doing.busy} onOpen={setOpen} />}
      {open === 'domain' && <Domain {...{ api, account, tell }} onLeave={left} />}
      {open === 'stop' && (
        <Stop {...{ account }} first={environment} onAct={stop} onLeave={close} />
      )}
      {open === 'off' && <SwitchOff account={account} onAct={off} onLeave={close} />}
    </PageFrame>
  );
}

interface FactsProps {
  account: Account;
  onDomain: (() => void) | null;
}

function Facts({ account, onDomain }: FactsProps) {
  const { name, partnerId, active, adminDomain, pins, rakeTerms } = account;
  return (
    <Card>
      <dl class="kv">
        <dt>Name</dt>
        <dd>{name}</dd>
        <dt>Partner id</dt>
        <dd>
          <Id id={partnerId} what="the partner id" />
        </dd>
        <dt>State</dt>
        <dd>
          <Tag tone={active ? 'good' : 'bad'}>{active ? 'on' : 'switched off'}</Tag>
        </dd>
        <dt>Domain</dt>
        <dd>
          {adminDomain ?? 'not set'}{' '}
          {adminDomain === undefined && onDomain !== null && (
            <Button small onPress={onDomain}>
              Set a domain
            </Button>
          )}
          <p class="small quiet">
            {adminDomain === undefined
              ? 'With one, only its addresses can be invited. It is set once and for all.'
              : 'Only the platform can change it.'}
          </p>
        </dd>
        <dt>API version</dt>
        <dd>
          live {pins.live}, test {pins.test} · <a href="/portal/versions">change</a>
        </dd>
        <dt>Rake terms</dt>
        <dd>
          {rakeTerms.agreedVersion === undefined
            ? 'not agreed'
            : `version ${rakeTerms.agreedVersion}, agreed ${dayOf(rakeTerms.agreedAt ?? 0)}`}{' '}
          · <a href="/portal/terms">read</a>
        </dd>
      </dl>
    </Card>
  );
}

interface DangerProps {
  account: Account;
  busy: boolean;
  onOpen(what: Open): void;
}

function Danger({ account, busy, onOpen }: DangerProps) {
  return (
    <Card
      danger
      flush
      title="What ends play"
      aside={<span class="small quiet">Each says what will happen, and needs a code</span>}
    >
      <ul class="todo">
        <li>
          <Icon name="stop" tone="bad" />
          <h3>Emergency stop</h3>
          <p class="p">
            Ends every session and match of one environment, right now.{' '}
            <strong>Keys still work</strong> and can start new sessions: if a key leaked, revoke it
            first.
          </p>
          <Button kind="no" busy={busy} onPress={() => onOpen('stop')}>
            Stop…
          </Button>
        </li>
        {account.active && (
          <li>
            <Icon name="no" tone="bad" />
            <h3>Switch the account off</h3>
            <p class="p">
              Ends all play in test and live, and refuses every key until an admin switches it on
              again.
            </p>
            <Button kind="no" busy={busy} onPress={() => onOpen('off')}>
              Switch off…
            </Button>
          </li>
        )}
      </ul>
    </Card>
  );
}

const REFUSED: Record<string, string> = {
  invalid_domain: 'This is not a domain. One looks like company.example.',
  domain_already_set: 'A domain is set already. Only the platform can change it.',
  address_outside_domain: 'Your address is outside it. Nobody with your domain could be invited.',
};

interface DomainProps extends Pick<PageProps, 'api' | 'account' | 'tell'> {
  onLeave(): void;
}

function Domain({ api, account, tell, onLeave }: DomainProps) {
  const [domain, setDomain] = useState(account.email.split('@')[1] ?? '');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const reason = error instanceof Refused ? REFUSED[error.reason] : undefined;
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await api.write(`set ${domain} for good`, 'POST', 'account/domain', { domain });
      tell(`Only addresses of ${domain} can be invited.`);
      onLeave();
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Set the domain for good?" onLeave={onLeave}>
      <form class="stack" onSubmit={send}>
        {reason === undefined && <Problem error={error} />}
        <Field
          label="Domain"
          help="Exactly this one. Subdomains do not count."
          required
          error={reason}
          value={domain}
          onInput={(event) => setDomain(event.currentTarget.value.trim())}
        />
        <WillHappen
          lines={[
            {
              icon: 'lock',
              says: (
                <>
                  Invites go to addresses @{domain} alone, from now on.{' '}
                  <strong>It cannot be changed or taken back here.</strong>
                </>
              ),
            },
            { icon: 'people', says: 'Members who are in stay in.' },
          ]}
        />
        <div class="row foot-row">
          <Button autofocus onPress={onLeave}>
            Cancel
          </Button>
          <Button kind="pri" busy={busy}>
            Set {domain} for good
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
