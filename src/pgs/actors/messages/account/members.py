"""Commands to the account actor about invites and members."""

from pgs.actors.messages.account.command import AccountCommand
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.invites import Invite
from pgs.domain.members import Member
from pgs.domain.roles import Role


class CreateInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Invite a person by address, in a role no greater than that of the member who invites."""

    by: str
    email: str
    role: Role


class RevokeInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Revoke an invite that nobody has accepted."""

    by: str
    invite_id: str


class AcceptInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Make `by` a member. `email` is the verified address with which they signed in.

    The reply is the accepted invite.
    """

    by: str
    email: str
    invite_id: str


class ChangeRole(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Give a member another role, no greater than the role of the member who changes it."""

    by: str
    uid: str
    role: Role


class RemoveMember(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Remove a member and their authenticator; the reply is the record of that member."""

    by: str
    uid: str
