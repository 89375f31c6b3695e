"""What is decided about members and invites."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages import account as m
from pgs.domain import ids, invites, members
from pgs.domain.accounts import Account
from pgs.domain.emails import normalise_email
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM, Member
from pgs.domain.roles import Role
from pgs.storage import invites as invite_rows
from pgs.storage import members as member_rows
from pgs.storage.transactions import Stmt


def create_invite(account: Account, command: m.CreateInvite, context: Context) -> AccountDecision:
    """Decide on an invite."""
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
    room = _room_for_invite(account, context)
    if isinstance(room, BadRequest):
        return room
    stmts = (*room, *invite_rows.insert_invite(account.partner_id, account.event_seq + 1, invite))
    detail = {"inviteId": invite.invite_id, "email": invite.email, "role": invite.role}
    return Write(account, stmts, "invite.created", detail, lambda _: invite)


def _room_for_invite(account: Account, context: Context) -> tuple[Stmt, ...] | BadRequest:
    """Give what makes room for one more invite: nothing as a rule. What became of a forgotten one stays in the event log."""
    if invite_rows.count_invites(context.reader, account.partner_id) < invites.INVITES_MAX:
        return ()
    settled = invite_rows.oldest_settled(context.reader, account.partner_id, context.now)
    if settled is None:
        return BadRequest(
            f"an account has at most {invites.INVITES_MAX} pending invites: revoke some, or wait until they expire"
        )
    return invite_rows.delete_invite(account.partner_id, settled)


def revoke_invite(account: Account, command: m.RevokeInvite, context: Context) -> AccountDecision:
    """Decide to revoke an invite."""
    revoked = invites.revoke(
        invite_rows.find_invite(context.reader, account.partner_id, command.invite_id), context.now
    )
    if isinstance(revoked, Refusal):
        return revoked
    stmt = invite_rows.revoke_invite(account.partner_id, command.invite_id, context.now)
    return Write(
        account, (stmt,), "invite.revoked", {"inviteId": command.invite_id}, lambda _: revoked
    )


def accept_invite(account: Account, command: m.AcceptInvite, context: Context) -> AccountDecision:
    """Decide to make a member of who signed in. Who is a member where is a unique index; two accounts cannot both have them."""
    invite = invite_rows.find_invite(context.reader, account.partner_id, command.invite_id)
    member_of = member_rows.find_account_of(context.reader, command.by)
    accepted = invites.accept(
        invite, account.partner_id, command.by, command.email, member_of, context.now
    )
    if isinstance(accepted, Refusal):
        return accepted
    if not members.is_uid(command.by):
        return BadRequest("no member can go by this user id")
    if len(account.members) >= members.MEMBERS_MAX:
        return BadRequest(f"an account has at most {members.MEMBERS_MAX} members")
    member = Member(
        command.by, normalise_email(command.email) or command.email, accepted.role, context.now
    )
    stmts = (
        invite_rows.accept_invite(account.partner_id, command.invite_id, member.uid),
        *member_rows.insert_member(account.partner_id, member),
    )
    after = replace(account, members=members.in_order((*account.members.values(), member)))
    return Write(
        after,
        stmts,
        "invite.accepted",
        {"inviteId": command.invite_id, "role": member.role},
        lambda _: accepted,
    )


def change_role(account: Account, command: m.ChangeRole, context: Context) -> AccountDecision:
    """Decide on a member's role."""
    granter = _role_of(account, command.by)
    if isinstance(granter, Refusal):
        return granter
    member = members.change_role(account.members, command.uid, command.role, granter)
    if isinstance(member, Refusal) or member == account.members[command.uid]:
        return member
    after = replace(account, members={**account.members, member.uid: member})
    stmt = member_rows.set_role(account.partner_id, member.uid, member.role)
    return Write(
        after,
        (stmt,),
        "member.role_changed",
        {"uid": member.uid, "role": member.role},
        lambda _: member,
    )


def remove_member(account: Account, command: m.RemoveMember, context: Context) -> AccountDecision:
    """Decide to remove a member. Their authenticator goes with them: should they come back, they enrol a new one."""
    member = members.remove(account.members, command.uid)
    if isinstance(member, Refusal):
        return member
    after = replace(
        account, members={uid: other for uid, other in account.members.items() if uid != member.uid}
    )
    stmts = member_rows.delete_member(account.partner_id, member.uid)
    return Write(
        after, stmts, "member.removed", {"uid": member.uid, "role": member.role}, lambda _: member
    )


def _role_of(account: Account, by: str) -> Role | Refusal:
    """Give the role with which somebody acts: the platform may grant whatever an admin may."""
    if by == PLATFORM:
        return "admin"
    member = account.members.get(by)
    return refuse("not_a_partner_admin") if member is None else member.role
