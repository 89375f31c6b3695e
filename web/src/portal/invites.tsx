/** The invites of the account. Admins alone may read and write them. */

import { useState } from 'preact/hooks';
import { Refused } from './api';
import type { Account, Api, Role } from './api';
import { ROLES } from './invite-step';
import { Problem, useAct, useKeptFresh, useReading } from './page';
import { INVITE_DAYS } from './parts/bounds';
import { Button } from './parts/button';
import { Card } from './parts/card';
import { Copy } from './parts/copy';
import { Dialog, Question, Secret } from './parts/dialog';
import { Field } from './parts/field';
import { spanOf } from './parts/format';
import { Tag } from './parts/note';
import { Table } from './parts/table';

interface Invite {
  inviteId: string;
  email: string;
  role: Role;
  status: 'pending' | 'accepted' | 'revoked' | 'expired';
  expiresAt: number;
}

const linkOf = (invite: Invite) => `${location.origin}/portal/join/${invite.inviteId}`;

function StateOf({ invite: { status, expiresAt } }: { invite: Invite }) {
  if (status === 'pending') {
    return (
      <Tag tone="warn" icon="clock">
        waits, {spanOf(expiresAt - Date.now() / 1000)} left
      </Tag>
    );
  }
  const words = { accepted: 'accepted', revoked: 'taken back', expired: 'has run out' } as const;
  return <Tag icon={status === 'accepted' ? 'check' : 'no'}>{words[status]}</Tag>;
}

interface InvitesProps {
  api: Api;
  account: Account;
  tell(text: string): void;
  /** Whether the dialog for a new one is open. */
  inviting: boolean;
  onInviting(on: boolean): void;
}

export function Invites({ api, account, tell, inviting, onInviting }: InvitesProps) {
  const { value, error, readAgain } = useReading<{ invites: Invite[] }>(api, 'invites?limit=100');
  useKeptFresh(readAgain);
  const doing = useAct(readAgain);
  const [made, setMade] = useState<Invite | null>(null);
  const [taking, take] = useState<Invite | null>(null);
  const create = async (email: string, role: Role) => {
    const invite = await api.write<Invite>(`invite ${email}`, 'POST', 'invites', { email, role });
    onInviting(false);
    setMade(invite);
    await readAgain();
  };
  const again = ({ email, role }: Invite) => void doing.act(() => create(email, role));
  const end = (invite: Invite) => {
    take(null);
    void doing.act(async () => {
      await api.write('take the invite back', 'DELETE', `invites/${invite.inviteId}`);
      tell(`The invite for ${invite.email} is taken back.`);
    });
  };
  return (
    <Card
      title="Invites"
      aside={
        <span class="small quiet">
          Good for {INVITE_DAYS} days. Nothing is mailed: pass the link on yourself.
        </span>
      }
      flush
    >
      <Problem error={error} again />
      <Problem error={doing.error} />
      {(value?.invites ?? []).length === 0 ? (
        <p class="in-card quiet">Nobody has been invited yet.</p>
      ) : (
        <List invites={value?.invites ?? []} busy={doing.busy} onTake={take} onAgain={again} />
      )}
      {inviting && (
        <NewInvite domain={account.adminDomain} onMake={create} onLeave={() => onInviting(false)} />
      )}
      {made !== null && <Made invite={made} onLeave={() => setMade(null)} />}
      {taking !== null && (
        <Question
          title={`Take back the invite for ${taking.email}?`}
          act="Take back"
          onAct={() => end(taking)}
          onLeave={() => take(null)}
        >
          The link stops working. You can invite them again.
        </Question>
      )}
    </Card>
  );
}

interface ListProps {
  invites: Invite[];
  busy: boolean;
  onTake(invite: Invite): void;
  onAgain(invite: Invite): void;
}

function List({ invites, busy, onTake, onAgain }: ListProps) {
  const acts = (invite: Invite) => (
    <div class="row">
      {invite.status === 'pending' && (
        <>
          <Copy small text={linkOf(invite)} what={`the link for ${invite.email}`} />
          <Button
            small
            kind="no"
            busy={busy}
            about={`the invite for ${invite.email}`}
            onPress={() => onTake(invite)}
          >
            Take back
          </Button>
        </>
      )}
      {invite.status === 'expired' && (
        <Button small busy={busy} about={invite.email} onPress={() => onAgain(invite)}>
          Invite again
        </Button>
      )}
    </div>
  );
  return (
    <Table
      label="Invites"
      columns={[
        { head: 'For', cell: ({ email }: Invite) => email },
        { head: 'Role', cell: ({ role }: Invite) => role },
        { head: 'State', cell: (invite: Invite) => <StateOf invite={invite} /> },
        { head: '', cell: acts },
      ]}
      rows={invites}
      keyOf={({ inviteId }) => inviteId}
    />
  );
}

function Made({ invite, onLeave }: { invite: Invite; onLeave(): void }) {
  const foot = (
    <Button kind="pri" onPress={onLeave}>
      Done
    </Button>
  );
  return (
    <Dialog title={`Invite for ${invite.email}`} onLeave={onLeave} foot={foot}>
      <p>Nothing is mailed. Send this link yourself. It works for that address alone.</p>
      <Secret secret={linkOf(invite)} />
    </Dialog>
  );
}

interface NewInviteProps {
  domain: string | undefined;
  onMake(email: string, role: Role): Promise<void>;
  onLeave(): void;
}

const REFUSED: Record<string, string> = {
  invalid_email: 'This is not an address. One looks like name@company.example.',
  address_outside_domain: 'Only addresses of the account’s domain are accepted.',
};

function NewInvite({ domain, onMake, onLeave }: NewInviteProps) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const reason = error instanceof Refused ? REFUSED[error.reason] : undefined;
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    await onMake(email.trim(), role).catch(setError);
    setBusy(false);
  };
  return (
    <Dialog title="Invite somebody" onLeave={onLeave}>
      <form class="stack" onSubmit={send}>
        {reason === undefined && <Problem error={error} />}
        <Field
          label="Address"
          type="email"
          autocomplete="off"
          autofocus
          required
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
          error={reason}
          help={
            domain === undefined
              ? 'They sign in with exactly this address.'
              : `They sign in with exactly this address. Only ${domain} is accepted.`
          }
        />
        <fieldset class="stack tight">
          <legend>Role</legend>
          {(Object.keys(ROLES) as Role[]).map((name) => (
            <label key={name} class="check">
              <input
                type="radio"
                name="role"
                checked={name === role}
                onChange={() => setRole(name)}
              />
              <span>
                <strong>{name}</strong> <span class="small quiet">{ROLES[name]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div class="row foot-row">
          <Button onPress={onLeave}>Cancel</Button>
          <Button kind="pri" busy={busy}>
            Make the invite
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
