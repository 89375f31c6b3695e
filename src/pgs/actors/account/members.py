"""The rules about invites and members."""

import msgspec
from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages.account.members import (
    AcceptInvite,
    ChangeRole,
    CreateInvite,
    RemoveMember,
    RevokeInvite,
)
from pgs.domain import ids, invites, members
from pgs.domain.accounts import Account
from pgs.domain.emails import normalise_email
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM, Member
from pgs.domain.roles import Role
from pgs.storage import invites as invite_rows
from pgs.storage import members as member_rows
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


class KeptInvites(msgspec.Struct, frozen=True):
    """How many invites an account has; at the limit, the id of the oldest that is not pending."""

    count: int
    oldest_closed: str | None


class InviteAndMembership(msgspec.Struct, frozen=True):
    """An invite, and the id of the account that the caller already belongs to."""

    invite: Invite | None
    member_of: str | None


async def read_kept_invites(
    reader: Reader, account: Account, command: CreateInvite, now: int
) -> KeptInvites:
    """Return how many invites the account has and, at the limit, which one may be deleted."""
    count = await invite_rows.count_invites(reader, account.partner_id)
    if count < invites.INVITES_MAX:
        return KeptInvites(count, None)  # there is still room
    return KeptInvites(count, await invite_rows.oldest_closed(reader, account.partner_id, now))


async def read_invite(
    reader: Reader, account: Account, command: RevokeInvite, now: int
) -> Invite | None:
    """Return the invite that the command names."""
    return await invite_rows.find_invite(reader, account.partner_id, command.invite_id)


async def read_invite_and_membership(
    reader: Reader, account: Account, command: AcceptInvite, now: int
) -> InviteAndMembership:
    """Return the invite that the command names, and the account that the caller belongs to."""
    invite = await invite_rows.find_invite(reader, account.partner_id, command.invite_id)
    return InviteAndMembership(invite, await member_rows.find_account_of(reader, command.by))


def create_invite(
    account: Account, command: CreateInvite, context: Context, kept: KeptInvites
) -> AccountDecision:
    """Decide to issue an invite. At `INVITES_MAX` invites it replaces an old one."""
    granter = _role_of(account, command.by)
    if isinstance(granter, Refusal):
        return granter
    invite = invites.issue(
        context.new_id(ids.INVITE),
        command.email,
        command.role,
        granter,
        account.admin_domain,
        context.now,
    )
    if isinstance(invite, Refusal):
        return invite
    room = _make_room(account, kept)
    if isinstance(room, BadRequest):
        return room
    insert = invite_rows.insert_invite(account.partner_id, account.event_seq + 1, invite)
    return Write(
        account=account,
        stmts=(*room, *insert),
        action="invite.created",
        detail={"inviteId": invite.invite_id, "email": invite.email, "role": invite.role},
        reply=lambda _: invite,
    )


def _make_room(account: Account, kept: KeptInvites) -> tuple[Stmt, ...] | BadRequest:
    """Return the statements that make room for one more invite, usually none.

    If the account has `INVITES_MAX` invites, the oldest one that is not pending is deleted. Its
    events stay in the log.
    """
    if kept.count < invites.INVITES_MAX:
        return ()
    if kept.oldest_closed is None:
        return BadRequest(
            f"an account has at most {invites.INVITES_MAX} pending invites:"
            " revoke some, or wait until they expire"
        )
    return invite_rows.delete_invite(account.partner_id, kept.oldest_closed)


def revoke_invite(
    account: Account, command: RevokeInvite, context: Context, invite: Invite | None
) -> AccountDecision:
    revoked = invites.revoke(invite, context.now)
    if isinstance(revoked, Refusal):
        return revoked
    return Write(
        account=account,
        stmts=(invite_rows.revoke_invite(account.partner_id, command.invite_id, context.now),),
        action="invite.revoked",
        detail={"inviteId": command.invite_id},
        reply=lambda _: revoked,
    )


def accept_invite(
    account: Account, command: AcceptInvite, context: Context, found: InviteAndMembership
) -> AccountDecision:
    """Decide to make the caller a member.

    If the caller accepts invites of two accounts at the same time, the unique index of members
    allows only one.
    """
    accepted = invites.accept(
        found.invite,
        account.partner_id,
        command.by,
        command.email,
        found.member_of,
        account.admin_domain,
        context.now,
    )
    if isinstance(accepted, Refusal):
        return accepted
    if not members.is_uid(command.by):
        return BadRequest("this user id cannot name a member")
    if len(account.members) >= members.MEMBERS_MAX:
        return BadRequest(f"an account has at most {members.MEMBERS_MAX} members")
    email = normalise_email(command.email) or command.email
    member = Member(command.by, email, accepted.role, context.now)
    after = members.in_order((*account.members.values(), member))
    return Write(
        account=replace(account, members=after),
        stmts=(
            invite_rows.accept_invite(account.partner_id, command.invite_id, member.uid),
            *member_rows.insert_member(account.partner_id, member),
        ),
        action="invite.accepted",
        detail={"inviteId": command.invite_id, "role": member.role},
        reply=lambda _: accepted,
    )


def change_role(account: Account, command: ChangeRole, context: Context) -> AccountDecision:
    """Decide to give a member another role. Nothing is committed if they have it already."""
    granter = _role_of(account, command.by)
    if isinstance(granter, Refusal):
        return granter
    member = members.change_role(account.members, command.uid, command.role, granter)
    if isinstance(member, Refusal) or member == account.members[command.uid]:
        return member
    return Write(
        account=replace(account, members={**account.members, member.uid: member}),
        stmts=(member_rows.set_role(account.partner_id, member.uid, member.role),),
        action="member.role_changed",
        detail={"uid": member.uid, "role": member.role},
        reply=lambda _: member,
    )


def remove_member(account: Account, command: RemoveMember, context: Context) -> AccountDecision:
    """Decide to remove a member and their authenticator. A member who comes back enrols again."""
    member = members.remove(account.members, command.uid)
    if isinstance(member, Refusal):
        return member
    others = {uid: other for uid, other in account.members.items() if uid != member.uid}
    return Write(
        account=replace(account, members=others),
        stmts=member_rows.delete_member(account.partner_id, member.uid),
        action="member.removed",
        detail={"uid": member.uid, "role": member.role},
        reply=lambda _: member,
    )


def _role_of(account: Account, by: str) -> Role | Refusal:
    """Return the role of the caller `by`. The platform acts as an admin."""
    if by == PLATFORM:
        return "admin"
    member = account.members.get(by)
    return refuse("not_a_partner_admin") if member is None else member.role
