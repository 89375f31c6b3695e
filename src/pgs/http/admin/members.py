"""Members of the account and their roles."""

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.messages.account.factors import ResetFactor
from pgs.actors.messages.account.members import ChangeRole, RemoveMember
from pgs.domain.members import Member
from pgs.domain.roles import Role
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_list, admin_write
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Wanted, cut, follow, wanted_page
from pgs.storage.factors import list_enrolled


class NewRole(msgspec.Struct, frozen=True):
    """The role that a member is to have."""

    role: Role


class MemberRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A member. `joined_at` in epoch seconds."""

    uid: str
    email: str
    role: str
    joined_at: int


class ListedMember(MemberRecord, frozen=True, rename="camel"):
    """A member in the list. `has_authenticator` says whether one is in force.

    Only admins see it, because it shows which members have no authenticator: somebody who stole the
    sign-in of such a member could connect an authenticator of their own.
    """

    has_authenticator: bool | UnsetType = UNSET


class MemberPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the members, in the order in which they joined."""

    members: list[ListedMember]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.members"


def _record(member: Member) -> MemberRecord:
    return MemberRecord(member.uid, member.email, member.role, member.joined_at)


def _listed(member: Member, has_authenticator: bool | UnsetType) -> ListedMember:
    return ListedMember(member.uid, member.email, member.role, member.joined_at, has_authenticator)


def _uid(member: Member) -> str:
    return member.uid


async def list_members(call: AdminCall) -> Answer:
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    shown, page = cut(
        call, _KIND, wanted, follow(list(account_now(call).members.values()), wanted, _uid), _uid
    )
    if call.principal.role != "admin":
        listed = [_listed(member, UNSET) for member in shown]
    else:
        enrolled = await list_enrolled(
            call.services.parts.database.reader, call.principal.account.partner_id
        )
        listed = [_listed(member, member.uid in enrolled) for member in shown]
    return MemberPage(listed, page.next_cursor, page.has_more)


async def change_role(call: AdminCall) -> Answer:
    """Give a member another role."""
    body: NewRole = call.body
    reply = await change(call, ChangeRole, call.path["uid"], body.role)
    return _record(reply) if isinstance(reply, Member) else reply


async def remove_member(call: AdminCall) -> Answer:
    """Remove a member; return who it was."""
    reply = await change(call, RemoveMember, call.path["uid"])
    return _record(reply) if isinstance(reply, Member) else reply


async def reset_factor(call: AdminCall) -> Answer:
    """Remove another member's authenticator; return whose it was."""
    reply = await change(call, ResetFactor, call.path["uid"])
    return _record(reply) if isinstance(reply, Member) else reply


ENDPOINTS = (
    admin_list("members", list_members, MemberPage, "The account's members"),
    admin_write(
        "PATCH",
        "members/{uid}",
        change_role,
        MemberRecord,
        "Change a member's role",
        request=NewRole,
        errors=("member_not_found", "last_admin"),
    ),
    admin_write(
        "DELETE",
        "members/{uid}",
        remove_member,
        MemberRecord,
        "Remove a member",
        errors=("member_not_found", "last_admin"),
    ),
    admin_write(
        "DELETE",
        "members/{uid}/totp",
        reset_factor,
        MemberRecord,
        "Reset a member's authenticator",
        errors=("member_not_found", "role_forbidden"),
    ),
)
