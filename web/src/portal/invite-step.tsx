/** The first step: the invite, found by the caller's address or named by a link. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Account, Api, Role } from './api';
import { Problem } from './page';
import { INVITE_DAYS } from './parts/bounds';
import { Button } from './parts/button';
import { many, spanOf, timeOf } from './parts/format';

interface OwnInvite {
  inviteId: string;
  partnerName: string;
  role: Role;
  expiresAt: number;
}

export const ROLES: Record<Role, string> = {
  viewer: 'reads everything but invites',
  developer: 'reads, and changes keys, origins, webhooks, test games, the theme, the API version',
  admin: 'changes everything: also people, prices, terms and live access, and can stop all play',
};

/** Why an invite was not accepted, and what to do next. */
const REFUSED: Record<string, string> = {
  invite_not_found:
    'There is no such invite, or it was taken back. Ask whoever sent the link for a new one.',
  already_accepted:
    'This invite was accepted already. If that was you, sign in as you did then.',
  expired: `This invite has run out: each is good for ${INVITE_DAYS} days. Ask for a new one.`,
  wrong_address:
    'This invite is for another address. Sign out, and sign in with the one it was sent to.',
  already_administers_another_partner:
    'You belong to another account, and nobody can belong to two. Ask for an invite to another ' +
    'address of yours.',
  already_a_member: 'You belong to this account already. Reload the page to go on.',
  address_outside_domain:
    'The account takes only addresses of its own domain. Ask for an invite to one of those.',
};

interface InviteStepProps {
  api: Api;
  email: string;
  /** The invite of the link, or null. */
  named: string | null;
  /** Is called when an invite was accepted, and when the person asks to see the other invites. */
  onDone(): void;
  onLeave(): void;
}

/** The invites that wait for the caller, and what accepts one. */
function useInvites(api: Api, onDone: () => void) {
  const [invites, setInvites] = useState<OwnInvite[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const read = () =>
    void api
      .read<{ invites: OwnInvite[] }>('invites/mine')
      .then(({ invites: found }) => setInvites(found), setError);
  useEffect(read, []);
  const accept = (inviteId: string) => {
    setBusy(true);
    setError(null);
    api
      .accept(inviteId)
      .then(onDone, setError)
      .finally(() => setBusy(false));
  };
  return { invites, error, busy, read, accept };
}

export function InviteStep({ api, email, named, onDone, onLeave }: InviteStepProps) {
  const { invites, error, busy, read, accept } = useInvites(api, onDone);
  if (invites === null) return error === null ? <h1>Reading …</h1> : <Problem error={error} />;
  // With a link, only the link's invite is shown.
  const shown = named === null ? invites : invites.filter(({ inviteId }) => inviteId === named);
  const reason = error instanceof Refused ? REFUSED[error.reason] : undefined;
  const said =
    reason === undefined ? (
      <Problem error={error} />
    ) : (
      <p class="bad" role="alert">
        {reason}
      </p>
    );
  if (shown.length === 0 && named === null) return <None {...{ email, said }} onAgain={read} />;
  if (shown.length === 0) {
    const isTried = reason !== undefined;
    const others = invites.length;
    const onTry = () => accept(named!);
    return <Useless {...{ email, others, isTried, said, busy, onTry, onDone, onLeave }} />;
  }
  return (
    <>
      {shown.map((invite) => (
        <Invite key={invite.inviteId} {...{ invite, email, busy }} onAccept={accept} />
      ))}
      {said}
      <p class="small quiet">
        {named === null && 'Found by your verified address: no link is needed. '}
        Not you? Close this tab. An invite does nothing by itself.
      </p>
    </>
  );
}

interface InviteProps {
  invite: OwnInvite;
  email: string;
  busy: boolean;
  onAccept(inviteId: string): void;
}

function Invite({ invite, email, busy, onAccept }: InviteProps) {
  const { inviteId, partnerName, role, expiresAt } = invite;
  return (
    <>
      <h1 tabIndex={-1}>{partnerName} invites you</h1>
      <p>
        You would be {role === 'admin' ? 'an' : 'a'} <strong>{role}</strong>: {ROLES[role]}.
      </p>
      <dl class="kv dense">
        <dt>For</dt>
        <dd>{email}</dd>
        <dt>Good until</dt>
        <dd>
          {timeOf(expiresAt)} ({spanOf(expiresAt - Date.now() / 1000)})
        </dd>
      </dl>
      <Button kind="pri" busy={busy} onPress={() => onAccept(inviteId)}>
        Accept and go on
      </Button>
    </>
  );
}

interface NoneProps {
  email: string;
  said: ComponentChildren;
  onAgain(): void;
}

/** Says that nobody has invited this address. */
function None({ email, said, onAgain }: NoneProps) {
  return (
    <>
      <h1 tabIndex={-1}>No invite for you</h1>
      {said}
      <p>
        You are signed in as <strong>{email}</strong>, and belong to no account. Ask an admin of
        your company to invite exactly this address, or sign out and take another one.
      </p>
      <div class="row">
        <Button onPress={onAgain}>Check again</Button>
      </div>
    </>
  );
}

interface UselessProps extends Pick<InviteStepProps, 'email' | 'onDone' | 'onLeave'> {
  /** How many other invites wait for the address. */
  others: number;
  isTried: boolean;
  said: ComponentChildren;
  busy: boolean;
  onTry(): void;
}

/**
 * Says that the link's invite does not wait for this address. A button tries to accept it all the
 * same, because the refusal says why it cannot be accepted. Without a press nothing is accepted: a
 * link that somebody has sent must not make its reader a member.
 */
function Useless({ email, others, isTried, said, busy, ...on }: UselessProps) {
  return (
    <>
      <h1 tabIndex={-1}>This link does not work for you</h1>
      {said}
      <p>
        You are signed in as <strong>{email}</strong>, and belong to no account.{' '}
        {!isTried &&
          'The link’s invite does not wait for this address: it is for another one, or it was ' +
            'accepted, was taken back or has run out.'}
      </p>
      {!isTried && (
        <p>
          Sign in with the address that it was sent to, or ask whoever sent the link for a new one.
        </p>
      )}
      <div class="row">
        <Button kind="pri" onPress={on.onLeave}>
          Use another address
        </Button>
        {!isTried && (
          <Button busy={busy} onPress={on.onTry}>
            Try to accept it
          </Button>
        )}
        {others > 0 && <Button onPress={on.onDone}>See {many(others, 'other invite')}</Button>}
      </div>
    </>
  );
}

interface MemberProps {
  account: Account;
  onGoOn(): void;
}

/** Says to a member who opens an invite's link that the invite can do nothing for them. */
export function MemberAlready({ account: { name, email }, onGoOn }: MemberProps) {
  return (
    <>
      <h1 tabIndex={-1}>You belong to {name} already</h1>
      <p>
        You are signed in as <strong>{email}</strong>. Nobody can belong to two accounts, so you
        cannot accept the link’s invite. If it was sent to another address, sign out, and sign in
        with that one.
      </p>
      <div class="row">
        <Button kind="pri" onPress={onGoOn}>
          Go on to {name}
        </Button>
      </div>
    </>
  );
}
