"""Members of the account and their roles."""

import msgspec

from pgs.actors.messages.account.people import ChangeRole, RemoveMember
from pgs.domain.members import Member
from pgs.domain.roles import Role
from pgs.http.admin.gate import AdminCall, account_now, change
from pgs.http.admin.lists import LIST_QUERY, Wanted, cut, follow, wanted_page
from pgs.http.api.endpoint import Answer, Endpoint


class NewRole(msgspec.Struct, frozen=True):
    """The role that a member is to have."""

    role: Role


class MemberRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A member. `joined_at` in epoch seconds."""

    uid: str
    email: str
    role: str
    joined_at: int


class MemberPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the members, in the order in which they joined."""

    members: list[MemberRecord]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.members"


def _record(member: Member) -> MemberRecord:
    return MemberRecord(member.uid, member.email, member.role, member.joined_at)


def _uid(member: Member) -> str:
    return member.uid


async def list_members(call: AdminCall) -> Answer:
    """Return a page of the members."""
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    shown, page = cut(
        call, _KIND, wanted, follow(list(account_now(call).members.values()), wanted, _uid), _uid
    )
    return MemberPage([_record(member) for member in shown], page.next_cursor, page.has_more)


async def change_role(call: AdminCall) -> Answer:
    """Give a member another role."""
    body: NewRole = call.body
    reply = await change(call, ChangeRole, call.path["uid"], body.role)
    return _record(reply) if isinstance(reply, Member) else reply


async def remove_member(call: AdminCall) -> Answer:
    """Remove a member; return who it was."""
    reply = await change(call, RemoveMember, call.path["uid"])
    return _record(reply) if isinstance(reply, Member) else reply


_PATH = "/partner/admin/members"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=list_members,
        response=MemberPage,
        credential="identity",
        query=LIST_QUERY,
        errors=("invalid_cursor",),
        summary="The account's members",
    ),
    Endpoint(
        method="PATCH",
        path=f"{_PATH}/{{uid}}",
        handler=change_role,
        request=NewRole,
        response=MemberRecord,
        credential="identity",
        errors=("member_not_found", "last_admin", "partner_changed"),
        summary="Change a member's role",
    ),
    Endpoint(
        method="DELETE",
        path=f"{_PATH}/{{uid}}",
        handler=remove_member,
        response=MemberRecord,
        credential="identity",
        errors=("member_not_found", "last_admin", "partner_changed"),
        summary="Remove a member",
    ),
)
