import { useState } from 'preact/hooks';
import { Refused } from '../api';
import type { Account, Environment } from '../api';
import { mayWrite, PageFrame, Problem, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Dialog, WillHappen } from '../parts/dialog';
import { Field } from '../parts/field';
import { Tag } from '../parts/note';
import { Table } from '../parts/table';

interface Row {
  environment: Environment;
  pin: number;
}

function Answer({ pins, newest }: { pins: Account['pins']; newest: number }) {
  if (pins.live === newest && pins.test === newest) {
    return (
      <>
        <strong>Live and test speak version {newest}, the newest.</strong> There is nothing to move.
      </>
    );
  }
  return (
    <>
      <strong>
        Live speaks version {pins.live}, test speaks {pins.test}. The newest is {newest}.
      </strong>{' '}
      Try a version in test as long as you like. A server can also ask for it call by call.
    </>
  );
}

export default function Versions({ api, account, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Account>(api, 'account');
  const [moving, move] = useState<Row | null>(null);
  const pins = (value ?? account).pins;
  const rows = (['test', 'live'] as const).map((environment) => ({
    environment,
    pin: pins[environment],
  }));
  const columns = [
    {
      head: 'Environment',
      cell: ({ environment }: Row) => <Tag tone={environment}>{environment}</Tag>,
    },
    { head: 'Pinned to', cell: ({ pin }: Row) => `version ${pin}` },
    { head: 'Newest', cell: () => `version ${api.newest}` },
  ];
  const acts = {
    head: '',
    cell: (row: Row) => (
      <Button small about={`the version of ${row.environment}`} onPress={() => move(row)}>
        Change
      </Button>
    ),
  };
  return (
    <PageFrame
      title="API version"
      answer={<Answer pins={pins} newest={api.newest} />}
      error={error}
      loading={value === null}
    >
      <Card flush foot={<Foot />}>
        <Table
          label="Versions"
          columns={mayWrite(account) ? [...columns, acts] : columns}
          rows={rows}
          keyOf={({ environment }) => environment}
        />
      </Card>
      {moving !== null && (
        <Move
          {...{ api, tell }}
          row={moving}
          onLeave={() => {
            move(null);
            void readAgain();
          }}
        />
      )}
    </PageFrame>
  );
}

function Foot() {
  return (
    <>
      A call without the version header is answered in the version of its environment.{' '}
      <a href="/docs/changelog.md" target="_blank" rel="noreferrer">
        What has changed
      </a>
    </>
  );
}

interface MoveProps extends Pick<PageProps, 'api' | 'tell'> {
  row: Row;
  onLeave(): void;
}

function Move({ api, tell, row: { environment, pin }, onLeave }: MoveProps) {
  const [typed, type] = useState(String(pin === api.newest ? pin : api.newest));
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const unknown = error instanceof Refused && error.reason === 'unsupported_api_version';
  const send = async (event: Event) => {
    event.preventDefault();
    const version = Number(typed);
    setBusy(true);
    setError(null);
    try {
      const what = `move ${environment} to version ${version}`;
      await api.write(what, 'POST', 'api-version', { environment, version });
      tell(`${environment} speaks version ${version}.`);
      onLeave();
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={`Move ${environment} to another version`}
      environment={environment}
      onLeave={onLeave}
    >
      <form class="stack" onSubmit={send}>
        {!unknown && <Problem error={error} />}
        <WillHappen
          lines={[
            {
              icon: 'pin',
              says: `Every ${environment} call without a version header is answered in it.`,
            },
            { icon: 'again', says: `You can go back to ${pin} at once, while it is served.` },
          ]}
        />
        <Field
          label="Version"
          inputMode="numeric"
          required
          autofocus
          value={typed}
          error={unknown && `Version ${typed} is not served. The newest is ${api.newest}.`}
          onInput={(event) => type(event.currentTarget.value.replace(/\D/g, ''))}
        />
        <div class="row foot-row">
          <Button onPress={onLeave}>Stay on {pin}</Button>
          <Button kind="pri" busy={busy}>
            Move {environment} to {typed}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
