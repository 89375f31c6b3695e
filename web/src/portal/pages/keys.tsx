import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../address';
import type { Api, Environment } from '../api';
import { nameOf } from '../changes';
import type { Member } from '../changes';
import { BoldFirst, mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { LABEL_MAX } from '../parts/bounds';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Field } from '../parts/field';
import { dayOf } from '../parts/format';
import { Empty, Tag } from '../parts/note';
import type { Tone } from '../parts/note';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { Ago } from '../parts/time';
import { linkTo } from '../routes';
import { answerOf, isUsed, stateOf } from '../words/keys';
import type { Key } from '../words/keys';
import { KeyDialogs } from './key-dialogs';
import type { Asked, Minted } from './key-dialogs';

const TONES: Record<Key['status'], Tone> = { active: 'good', scheduled: 'warn', revoked: 'plain' };
const ICONS = { active: 'check', scheduled: 'clock', revoked: 'no' } as const;

function useKeys({ api, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<{ keys: Key[] }>(api, 'keys?limit=500');
  const doing = useAct(readAgain);
  const [minted, setMinted] = useState<Minted | null>(null);
  const [asked, ask] = useState<Asked | null>(null);
  const keys = (value?.keys ?? []).filter((key) => key.environment === environment).reverse();
  const create = (label: string, taken: () => void) =>
    void doing.act(async () => {
      setMinted(await api.write<Minted>('create the key', 'POST', 'keys', { environment, label }));
      taken();
    });
  const rotate = (key: Key) =>
    void doing.act(async () => {
      const path = `keys/${key.keyId}/rotate`;
      setMinted(await api.write<Minted>(`rotate …${key.last4}`, 'POST', path));
    });
  const revoke = (key: Key) =>
    void doing.act(async () => {
      await api.write(`revoke …${key.last4}`, 'DELETE', `keys/${key.keyId}`);
      tell(`…${key.last4} is revoked.`);
    });
  return { value, error, keys, doing, minted, setMinted, asked, ask, create, rotate, revoke };
}

/** The members. Beside each key, the page shows the address of the member who made the key. */
function useMembers(api: Api): readonly Member[] {
  const [members, set] = useState<readonly Member[]>([]);
  useEffect(() => {
    // If that fails, the page shows the user id of whoever made a key.
    api
      .read<{ members: Member[] }>('members?limit=500')
      .then((read) => set(read.members), () => {});
  }, [api]);
  return members;
}

export default function Keys(props: PageProps) {
  const { api, account, environment } = props;
  const { value, error, keys, doing, minted, setMinted, asked, ask, ...acts } = useKeys(props);
  const writes = mayWrite(account);
  const members = useMembers(api);
  const [query] = useQuery();
  const answerAct = (asking: Asked) => {
    ask(null);
    acts[asking.act](asking.key);
  };
  return (
    <PageFrame
      title="API keys"
      answer={<BoldFirst parts={answerOf(keys, environment, account.active)} />}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <Card flush foot="Only the last four characters of a key are ever shown again.">
        {keys.length === 0 ? (
          <Empty icon="key" title="A key lets your server speak for you">
            It stays on your server, never in a page or an app: players get a session token, which
            your server makes with the key. Begin with one key for each server.
          </Empty>
        ) : (
          <Table
            label="Keys"
            columns={columnsOf({
              active: account.active,
              busy: doing.busy,
              ...{ environment, members, writes, ask },
            })}
            rows={keys}
            keyOf={(key) => key.keyId}
            marked={query.get('open')}
          />
        )}
      </Card>
      {writes && <NewKey environment={environment} busy={doing.busy} onCreate={acts.create} />}
      <KeyDialogs
        {...{ api, environment, minted, asked }}
        onStored={() => setMinted(null)}
        onAct={answerAct}
        onLeave={() => ask(null)}
      />
    </PageFrame>
  );
}

interface ColumnsProps {
  environment: Environment;
  /** Whether the account is on. */
  active: boolean;
  members: readonly Member[];
  writes: boolean;
  busy: boolean;
  ask(asked: Asked): void;
}

function columnsOf(props: ColumnsProps): readonly Column<Key>[] {
  const { environment, active, members, writes, busy, ask } = props;
  const acts: Column<Key> = {
    head: '',
    cell: (key) => (
      <>
        {key.status === 'active' && (
          <Button small busy={busy} about={key.label} onPress={() => ask({ act: 'rotate', key })}>
            Rotate
          </Button>
        )}{' '}
        {key.status !== 'revoked' && (
          <Button
            small
            kind="no"
            busy={busy}
            about={key.label}
            onPress={() => ask({ act: 'revoke', key })}
          >
            Revoke
          </Button>
        )}
      </>
    ),
  };
  return [
    { head: 'Label', cell: (key) => key.label },
    { head: 'Key', cell: (key) => <code>{`pgs_${environment}_…${key.last4}`}</code> },
    {
      head: 'State',
      cell: (key) => (
        <Tag tone={TONES[key.status]} icon={ICONS[key.status]}>
          {stateOf(key, active)}
        </Tag>
      ),
    },
    { head: 'Last used', cell: (key) => <LastUsed used={key} /> },
    {
      head: 'Created',
      cell: ({ keyId, createdAt, createdBy }) => (
        <>
          <a href={`${linkTo(environment, 'events')}?q=${keyId}`}>{dayOf(createdAt)}</a>
          <small>by {nameOf(createdBy ?? 'platform', members)}</small>
        </>
      ),
    },
    ...(writes ? [acts] : []),
  ];
}

function LastUsed({ used }: { used: Key }) {
  if (used.lastUsedAt === undefined) return <span class="quiet">not yet</span>;
  const ago = <Ago at={used.lastUsedAt} />;
  if (used.status !== 'scheduled' || !isUsed(used)) return ago;
  return (
    <>
      <strong class="warn">{ago}</strong>
      <small>by a server that still has it</small>
    </>
  );
}

interface NewKeyProps {
  environment: Environment;
  busy: boolean;
  onCreate(label: string, taken: () => void): void;
}

function NewKey({ environment, busy, onCreate }: NewKeyProps) {
  const [label, type] = useState('');
  const create = (event: Event) => {
    event.preventDefault();
    onCreate(label, () => type(''));
  };
  return (
    <form class="card" onSubmit={create}>
      <div class="in-card stack">
        <Field
          label={`Label of a new ${environment} key`}
          help={`Where it will be used, at most ${LABEL_MAX} characters. Your colleagues see it.`}
          value={label}
          maxLength={LABEL_MAX}
          required
          onInput={(event) => type(event.currentTarget.value)}
        />
        <div>
          <Button kind="pri" icon="plus" busy={busy}>
            Create {environment} key
          </Button>
        </div>
      </div>
    </form>
  );
}
