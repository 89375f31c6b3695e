import { useRef, useState } from 'preact/hooks';
import { Question, ShownOnce } from '../parts/dialog';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { timeOf } from '../parts/format';

interface Key {
  keyId: string;
  environment: string;
  label: string;
  createdAt: number;
  last4: string;
  status: 'active' | 'scheduled' | 'revoked';
  revokesAt?: number;
  lastUsedAt?: number;
}

interface Minted {
  label: string;
  apiKey: string;
}

const STATE = { active: 'works', scheduled: 'stops', revoked: 'revoked' } as const;

function answerOf(keys: Key[], environment: string): string {
  const working = keys.filter((key) => key.status !== 'revoked').length;
  if (working === 0) {
    return (
      `No ${environment} key yet. A key lets your server speak for you. It stays there; ` +
      'players get a session token.'
    );
  }
  return working === 1 ? `One ${environment} key works.` : `${working} ${environment} keys work.`;
}

export default function Keys({ api, account, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<{ keys: Key[] }>(api, 'keys?limit=500');
  const doing = useAct(readAgain);
  const [minted, setMinted] = useState<Minted | null>(null);
  const [revoking, revoke] = useState<Key | null>(null);
  const keys = (value?.keys ?? []).filter((key) => key.environment === environment).reverse();
  const writes = mayWrite(account);

  const create = (label: string, taken: () => void) =>
    doing.act(async () => {
      setMinted(await api.write<Minted>('create the key', 'POST', 'keys', { environment, label }));
      taken();
    });
  const rotate = (key: Key) =>
    doing.act(async () => {
      const path = `keys/${key.keyId}/rotate`;
      setMinted(await api.write<Minted>(`rotate …${key.last4}`, 'POST', path));
    });
  const end = (key: Key) => {
    revoke(null);
    void doing.act(async () => {
      await api.write(`revoke …${key.last4}`, 'DELETE', `keys/${key.keyId}`);
      tell(`…${key.last4} is revoked.`);
    });
  };
  return (
    <PageFrame
      title="API keys"
      answer={answerOf(keys, environment)}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      {keys.length > 0 && <KeyTable {...{ keys, writes, rotate, revoke }} busy={doing.busy} />}
      {writes && (
        <NewKey
          environment={environment}
          busy={doing.busy}
          onCreate={(label, taken) => void create(label, taken)}
        />
      )}
      {minted !== null && (
        <ShownOnce
          title={`The key of ${minted.label}`}
          secret={minted.apiKey}
          onStored={() => setMinted(null)}
        >
          Store it where your server reads its secrets, never in a page.
        </ShownOnce>
      )}
      {revoking !== null && (
        <Revoke asked={revoking} onAct={() => end(revoking)} onLeave={() => revoke(null)} />
      )}
    </PageFrame>
  );
}

interface RevokeProps {
  asked: Key;
  onAct(): void;
  onLeave(): void;
}

function Revoke({ asked: { label, last4 }, onAct, onLeave }: RevokeProps) {
  return (
    <Question
      title={`Revoke …${last4}?`}
      act={`Revoke …${last4} now`}
      onAct={onAct}
      onLeave={onLeave}
    >
      Every call with {label} (…{last4}) is refused from this second. Tokens of players in play go
      on until they expire. It cannot be brought back.
    </Question>
  );
}

interface NewKeyProps {
  environment: string;
  busy: boolean;
  onCreate(label: string, taken: () => void): void;
}

function NewKey({ environment, busy, onCreate }: NewKeyProps) {
  const field = useRef<HTMLInputElement>(null);
  const create = (event: Event) => {
    event.preventDefault();
    onCreate(field.current?.value ?? '', () => {
      if (field.current !== null) field.current.value = '';
    });
  };
  return (
    <form class="row end" onSubmit={create}>
      <div class="field">
        <label for="label">Label of a new {environment} key</label>
        <input id="label" ref={field} class="in" maxLength={64} required />
      </div>
      <button class="btn pri" disabled={busy}>
        Create {environment} key
      </button>
    </form>
  );
}

interface TableProps {
  keys: Key[];
  writes: boolean;
  busy: boolean;
  rotate(key: Key): void;
  revoke(key: Key): void;
}

function KeyTable({ keys, writes, busy, rotate, revoke }: TableProps) {
  return (
    <div class="scroll" role="region" aria-label="Keys" tabIndex={0}>
      <table class="t">
        <thead>
          <tr>
            <th scope="col">Label</th>
            <th scope="col">Ends with</th>
            <th scope="col">State</th>
            <th scope="col">Made</th>
            <th scope="col">Last used</th>
            {writes && <th scope="col">Acts</th>}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.keyId} data-key={key.keyId}>
              <th scope="row">{key.label}</th>
              <td>
                <code>…{key.last4}</code>
              </td>
              <td>
                {STATE[key.status]} {key.status !== 'active' && timeOf(key.revokesAt, '')}
              </td>
              <td>{timeOf(key.createdAt, '')}</td>
              <td>{timeOf(key.lastUsedAt, 'not yet')}</td>
              {writes && (
                <td class="row">
                  {key.status === 'active' && (
                    <button type="button" class="btn" disabled={busy} onClick={() => rotate(key)}>
                      Rotate <span class="unseen">{key.label}</span>
                    </button>
                  )}
                  {key.status !== 'revoked' && (
                    <button type="button" class="btn no" onClick={() => revoke(key)}>
                      Revoke <span class="unseen">{key.label}</span>
                    </button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
