"""Reads invites, and builds the statements that write them."""

from typing import Any

from pgs.domain.invites import Invite
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_account_of(reader: Reader, invite_id: str) -> str | None:
    """Return the id of the account that an invite is for, or None."""
    row = await reader.one("invites.find_account_of", invite_id=invite_id)
    return row[0] if row else None


async def find_invite(reader: Reader, partner_id: str, invite_id: str) -> Invite | None:
    """Return an invite of an account, or None."""
    row = await reader.one("invites.find_invite", partner_id=partner_id, invite_id=invite_id)
    return Invite(*row) if row else None


async def invites_page(
    reader: Reader, partner_id: str, before: int, page_size: int
) -> list[tuple[int, Invite]]:
    """Return (sequence number, invite) pairs below `before`, newest first; begin at `NEWEST`."""
    rows = await reader.all(
        "invites.invites_page", partner_id=partner_id, before=before, page_size=page_size
    )
    return [(seq, Invite(*rest)) for seq, *rest in rows]


async def pending_for_address(
    reader: Reader, address: str, now: int, after: tuple[int, str], page_size: int
) -> list[tuple[str, Invite]]:
    """Return (partner id, invite) for the pending invites to an address, the newest first.

    `address` is in lower case. `after` is the expiry and the id of the last invite of the page
    before; begin at `NEWEST` and an empty id. The search covers the invites of every account.
    """
    before, invite_id = after
    rows = await reader.all(
        "invites.pending_for_address",
        address=address,
        now=now,
        before=before,
        after=invite_id,
        page_size=page_size,
    )
    return [(partner_id, Invite(*rest)) for partner_id, *rest in rows]


async def count_invites(reader: Reader, partner_id: str) -> int:
    """Return how many invites of an account are stored, in any state."""
    row = await reader.one("invites.count_invites", partner_id=partner_id)
    return int(row[0]) if row else 0


async def oldest_closed(reader: Reader, partner_id: str, now: int) -> str | None:
    """Return the id of the oldest invite that is no longer pending at `now`, or None."""
    row = await reader.one("invites.oldest_closed", partner_id=partner_id, now=now)
    return row[0] if row else None


def delete_invite(partner_id: str, invite_id: str) -> tuple[Stmt, Stmt]:
    """Return the statements that delete an invite and its entry in the index of all invites."""
    params: dict[str, Any] = {"partner_id": partner_id, "invite_id": invite_id}
    return Stmt("invites.delete_invite", params, 1), Stmt("invites.delete_invite_index", params)


def insert_invite(partner_id: str, seq: int, invite: Invite) -> tuple[Stmt, Stmt]:
    """Return the statements that add an invite and its entry in the index of all invites."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "invite_id": invite.invite_id,
        "email": invite.email,
        "role": invite.role,
        "created_at": invite.created_at,
        "expires_at": invite.expires_at,
        "seq": seq,
    }
    index: dict[str, Any] = {"invite_id": invite.invite_id, "partner_id": partner_id}
    return Stmt("invites.insert_invite", params, 1), Stmt("invites.insert_invite_index", index, 1)


def accept_invite(partner_id: str, invite_id: str, uid: str) -> Stmt:
    """Return the statement that records who accepted an invite.

    It conflicts if the invite has been accepted or revoked before.
    """
    return Stmt(
        "invites.accept_invite", {"partner_id": partner_id, "invite_id": invite_id, "uid": uid}, 1
    )


def revoke_invite(partner_id: str, invite_id: str, at: int) -> Stmt:
    """Return the statement that revokes an invite.

    It conflicts if the invite has been accepted or revoked before.
    """
    return Stmt(
        "invites.revoke_invite", {"partner_id": partner_id, "invite_id": invite_id, "at": at}, 1
    )
