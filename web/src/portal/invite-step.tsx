/** The first step: the invite, found by the caller's address or named by a link. */

import { useEffect, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Api, Role } from './api';
import { Problem } from './page';
import { Button } from './parts/button';
import { spanOf, timeOf } from './parts/format';

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

const REFUSED: Record<string, string> = {
  invite_not_found: 'There is no such invite, or it was taken back.',
  already_accepted: 'This invite was accepted already.',
  expired: 'This invite has run out.',
  wrong_address: 'This invite is for another address.',
  already_administers_another_partner: 'You belong to another account already.',
  already_a_member: 'You belong to this account already.',
  address_outside_domain: 'The account takes addresses of its own domain alone.',
};

interface InviteStepProps {
  api: Api;
  email: string;
  /** The invite of the link, or null. */
  named: string | null;
  onDone(): void;
}

export function InviteStep({ api, email, named, onDone }: InviteStepProps) {
  const [invites, setInvites] = useState<OwnInvite[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const read = () =>
    api
      .read<{ invites: OwnInvite[] }>('invites/mine')
      .then(({ invites: found }) => setInvites(found), setError);
  useEffect(() => {
    void read();
  }, []);
  if (invites === null) return error === null ? <h1>Reading …</h1> : <Problem error={error} />;
  const accept = (inviteId: string) => {
    setBusy(true);
    setError(null);
    api
      .accept(inviteId)
      .then(onDone, setError)
      .finally(() => setBusy(false));
  };
  // With a link, only the link's invite is shown. If the caller has no such invite, `None` tries
  // to accept it and says why that fails.
  const shown = named === null ? invites : invites.filter(({ inviteId }) => inviteId === named);
  const reason = error instanceof Refused ? REFUSED[error.reason] : undefined;
  if (shown.length === 0) {
    return <None {...{ email, named, reason, busy }} onTry={accept} onAgain={() => void read()} />;
  }
  return (
    <>
      {shown.map((invite) => (
        <Invite key={invite.inviteId} {...{ invite, email, busy }} onAccept={accept} />
      ))}
      {reason === undefined ? (
        <Problem error={error} />
      ) : (
        <p class="bad" role="alert">
          {reason}
        </p>
      )}
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
  named: string | null;
  reason: string | undefined;
  busy: boolean;
  onTry(inviteId: string): void;
  onAgain(): void;
}

/**
 * Says that nobody has invited this address. A press tries the link's invite, which says why that
 * fails. Nothing else tries it: a link that somebody has sent must not make its reader a member.
 */
function None({ email, named, reason, busy, onTry, onAgain }: NoneProps) {
  return (
    <>
      <h1 tabIndex={-1}>No invite for you</h1>
      {reason !== undefined && (
        <p class="bad" role="alert">
          {reason}
        </p>
      )}
      <p>
        You are signed in as <strong>{email}</strong>, and belong to no account. Ask an admin of
        your company to invite exactly this address, or sign out and take another one.
      </p>
      <div class="row">
        {named !== null && reason === undefined && (
          <Button busy={busy} onPress={() => onTry(named)}>
            Accept the link's invite
          </Button>
        )}
        <Button busy={busy} onPress={onAgain}>
          Check again
        </Button>
      </div>
    </>
  );
}
