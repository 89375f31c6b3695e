import { useState } from 'preact/hooks';
import { useQuery } from '../address';
import type { Account, Api, Role } from '../api';
import type { Member } from '../changes';
import { Invites } from '../invites';
import { ROLES } from '../invite-step';
import { mayRule, PageFrame, Problem, useAct, useKeptFresh, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Question } from '../parts/dialog';
import { dayOf, many } from '../parts/format';
import { Tag } from '../parts/note';
import { Table } from '../parts/table';

const NAMES = Object.keys(ROLES) as Role[];

function Answer({ members }: { members: Member[] }) {
  const admins = members.filter(({ role }) => role === 'admin').length;
  const people = many(members.length, 'person', 'people');
  const who = admins === 1 ? 'one of them an admin' : `${admins} of them admins`;
  return (
    <>
      <strong>{members.length === 1 ? 'You are alone here' : `${people}, ${who}`}.</strong>{' '}
      {admins === 1
        ? 'Invite a second admin: nobody can reset a lost authenticator of their own.'
        : 'An admin can help another one with a lost authenticator.'}
    </>
  );
}

type Asking =
  | { kind: 'remove'; member: Member }
  | { kind: 'reset'; member: Member }
  | { kind: 'role'; member: Member; role: Role };

function ask(asking: Asking) {
  const { email } = asking.member;
  if (asking.kind === 'remove') {
    return {
      title: `Remove ${email}?`,
      act: `Remove ${email}`,
      will: [
        {
          icon: 'no',
          says: 'They are out within a second, in test and in live. Their authenticator goes too.',
        },
        {
          icon: 'key',
          tone: 'warn',
          says: (
            <>
              <strong>Keys that they have seen still work.</strong> Rotate those that they should
              not have.
            </>
          ),
        },
      ],
    } as const;
  }
  if (asking.kind === 'reset') {
    return {
      title: `Reset the authenticator of ${email}?`,
      act: `Reset it for ${email}`,
      will: [
        { icon: 'lock', says: 'Its codes stop working at once.' },
        {
          icon: 'again',
          says: 'They connect a new one at their next act that needs a code. Be sure who asks.',
        },
      ],
    } as const;
  }
  const { role } = asking;
  return {
    title: `Make ${email} ${role === 'admin' ? 'an' : 'a'} ${role}?`,
    act: `Make ${email} ${role === 'admin' ? 'an' : 'a'} ${role}`,
    will: [{ icon: 'people', says: `${role}: ${ROLES[role]}. It takes effect at once.` }],
  } as const;
}

/** Does what was asked for. Returns what was done, in words. */
async function send(api: Api, asked: Asking): Promise<string> {
  const { uid, email } = asked.member;
  const path = `members/${encodeURIComponent(uid)}`;
  if (asked.kind === 'remove') {
    await api.write(`remove ${email}`, 'DELETE', path);
    return `${email} is removed.`;
  }
  if (asked.kind === 'reset') {
    await api.write(`reset the authenticator of ${email}`, 'DELETE', `${path}/totp`);
    return `The authenticator of ${email} is reset.`;
  }
  await api.write(`change the role of ${email}`, 'PATCH', path, { role: asked.role });
  return `${email} is ${asked.role} now.`;
}

export default function Members({ api, account, tell }: PageProps) {
  const { value, error, readAgain } = useReading<{ members: Member[] }>(api, 'members?limit=500');
  useKeptFresh(readAgain);
  const doing = useAct(readAgain);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [query, change] = useQuery();
  const rules = mayRule(account);
  const members = value?.members ?? [];
  const run = (asked: Asking) => {
    setAsking(null);
    void doing.act(async () => tell(await send(api, asked)));
  };
  const invite = (
    <Button kind="pri" icon="plus" onPress={() => change({ open: 'invite' })}>
      Invite somebody
    </Button>
  );
  return (
    <PageFrame
      title="Members"
      answer={<Answer members={members} />}
      acts={rules && invite}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <Card flush>
        <People {...{ members, account }} busy={doing.busy} ask={rules ? setAsking : null} />
      </Card>
      {rules ? (
        <Invites
          {...{ api, account, tell }}
          inviting={query.get('open') === 'invite'}
          onInviting={(on) => change({ open: on ? 'invite' : null })}
        />
      ) : (
        <p class="quiet">
          Only an admin can invite:{' '}
          {members
            .filter(({ role }) => role === 'admin')
            .map(({ email }) => email)
            .join(', ')}
        </p>
      )}
      {asking !== null && (
        <Question
          {...ask(asking)}
          onAct={() => run(asking)}
          onLeave={() => {
            setAsking(null);
            void readAgain();
          }}
        />
      )}
    </PageFrame>
  );
}

interface PeopleProps {
  members: Member[];
  account: Account;
  busy: boolean;
  /** What an admin may ask for, or null. */
  ask: ((asking: Asking) => void) | null;
}

function People({ members, account, busy, ask: onAsk }: PeopleProps) {
  const last = members.filter(({ role }) => role === 'admin').length === 1;
  const fixed = (member: Member) => onAsk === null || (last && member.role === 'admin');
  const columns = [
    {
      head: 'Who',
      cell: ({ uid, email }: Member) => (
        <>
          {email} {uid === account.uid && <Tag>you</Tag>}
        </>
      ),
    },
    {
      head: 'Role',
      cell: (member: Member) =>
        fixed(member) ? (
          <FixedRole role={member.role} lastAdmin={onAsk !== null} />
        ) : (
          <RolePick member={member} onPick={(role) => onAsk?.({ kind: 'role', member, role })} />
        ),
    },
    { head: 'Since', cell: ({ joinedAt }: Member) => dayOf(joinedAt) },
  ];
  const forAdmins = [
    {
      head: 'Authenticator',
      cell: (member: Member) => (
        <Authenticator
          {...{ member, busy }}
          onReset={member.uid === account.uid ? null : () => onAsk?.({ kind: 'reset', member })}
        />
      ),
    },
    {
      head: '',
      cell: (member: Member) =>
        !fixed(member) && (
          <Button
            small
            kind="no"
            busy={busy}
            about={member.email}
            onPress={() => onAsk?.({ kind: 'remove', member })}
          >
            Remove
          </Button>
        ),
    },
  ];
  return (
    <Table
      label="Members"
      columns={onAsk === null ? columns : [...columns, ...forAdmins]}
      rows={members}
      keyOf={({ uid }) => uid}
    />
  );
}

/** A role that cannot be changed here. */
function FixedRole({ role, lastAdmin }: { role: string; lastAdmin: boolean }) {
  return (
    <>
      {role}
      {lastAdmin && <small>the last admin: stays one</small>}
    </>
  );
}

interface AuthenticatorProps {
  member: Member;
  busy: boolean;
  onReset: (() => void) | null;
}

// Wrong codes lock a pending authenticator too: at first for a while, and after several locks until
// somebody resets it. So Reset is offered even if no authenticator is connected.
function Authenticator({ member, busy, onReset }: AuthenticatorProps) {
  const { email, hasAuthenticator } = member;
  return (
    <div class="row">
      {hasAuthenticator === true && <Tag tone="good">connected</Tag>}
      {hasAuthenticator === false && <Tag>none yet</Tag>}
      {onReset !== null && (
        <Button
          small
          kind="plain"
          busy={busy}
          about={`the authenticator of ${email}`}
          onPress={onReset}
        >
          Reset
        </Button>
      )}
    </div>
  );
}

function RolePick({ member, onPick }: { member: Member; onPick(role: Role): void }) {
  return (
    <select
      class="in sm"
      aria-label={`Role of ${member.email}`}
      value={member.role}
      onChange={(event) => {
        const chosen = event.currentTarget.value as Role;
        event.currentTarget.value = member.role; // the old role, until the change is made
        onPick(chosen);
      }}
    >
      {NAMES.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}
