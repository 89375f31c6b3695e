"""Members of an account, and what may change about them.

The last admin of an account can neither be removed nor get another role.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from pgs.domain.errors import Refusal, refuse
from pgs.domain.roles import Role, can_grant

UID_MAX: Final = 255
"""Characters of a member's uid: the limit that OpenID Connect sets for a subject (Core 1.0, section
2)."""

MEMBERS_MAX: Final = 1000
"""Members of one account, because the account holds all of them in memory."""

PLATFORM: Final = "platform"
"""The caller when no member acts: operators, deadlines, the service. It is not a valid uid."""


class Member(msgspec.Struct, frozen=True):
    """A member's record. `uid` is their identity token's subject; `joined_at` in epoch seconds."""

    uid: str
    email: str
    role: Role
    joined_at: int


def is_uid(text: str) -> bool:
    """Return whether `text` can name a member.

    A uid has 1 to 255 characters without NUL or lone surrogates, and is not `platform`.
    """
    if not 1 <= len(text) <= UID_MAX or "\x00" in text or text in {PLATFORM}:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in text)


def in_order(members: Iterable[Member]) -> dict[str, Member]:
    """Return members by uid in the order in which they joined, as an account holds them."""
    return {
        member.uid: member
        for member in sorted(members, key=lambda member: (member.joined_at, member.uid))
    }


def change_role(
    members: Mapping[str, Member], uid: str, role: Role, granter: Role
) -> Member | Refusal:
    """Return the member with the new role, or why the role cannot be given.

    `members` are all members of the account, by uid. A member who has the role already is returned
    unchanged. An admin may give up the role unless they are the last admin.
    """
    if not can_grant(granter, role):
        return refuse("role_forbidden")
    member = members.get(uid)
    if member is None:
        return refuse("member_not_found")
    if role != "admin" and _is_last_admin(members, member):
        return refuse("last_admin")
    return msgspec.structs.replace(member, role=role)


def remove(members: Mapping[str, Member], uid: str) -> Member | Refusal:
    """Return the member to remove, or why they cannot be removed.

    An admin may remove themselves unless they are the last admin.
    """
    member = members.get(uid)
    if member is None:
        return refuse("member_not_found")
    return refuse("last_admin") if _is_last_admin(members, member) else member


def _is_last_admin(members: Mapping[str, Member], member: Member) -> bool:
    return member.role == "admin" and not any(
        other.role == "admin" and other.uid != member.uid for other in members.values()
    )
