"""Finds members of accounts, and builds the statements that write them."""

from typing import Any

from pgs.domain.members import Member
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_account_of(reader: Reader, uid: str) -> str | None:
    """Return the id of the account that a uid is a member of, or None."""
    row = await reader.one("members.find_account_of", uid=uid)
    return row[0] if row else None


def insert_member(partner_id: str, member: Member) -> tuple[Stmt, Stmt]:
    """Return the statements that add a member and the member's entry in the index of all members.

    They conflict if the uid is a member of any account.
    """
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "uid": member.uid,
        "email": member.email,
        "role": member.role,
        "joined_at": member.joined_at,
    }
    return (
        Stmt("members.insert_member", params, 1),
        Stmt("members.insert_member_index", {"uid": member.uid, "partner_id": partner_id}, 1),
    )


def set_role(partner_id: str, uid: str, role: str) -> Stmt:
    """Return the statement that gives a member a role."""
    return Stmt("members.set_role", {"partner_id": partner_id, "uid": uid, "role": role}, 1)


def delete_member(partner_id: str, uid: str) -> tuple[Stmt, ...]:
    """Return the statements that remove a member with their index entry and authenticator."""
    params: dict[str, Any] = {"partner_id": partner_id, "uid": uid}
    return (
        Stmt("members.delete_member", params, 1),
        Stmt("members.delete_member_index", params, 1),
        Stmt("factors.delete_factor", params),
    )
