"""Reads members' authenticators, and builds the statements that write them."""

import msgspec

from pgs.domain.factors import Factor, Window
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt

_windows = msgspec.json.Decoder(tuple[Window, ...])


async def find_factor(reader: Reader, partner_id: str, uid: str) -> Factor:
    """Return a member's authenticator; `Factor()` if there is none."""
    row = await reader.one("factors.find_factor", partner_id=partner_id, uid=uid)
    if not row:
        return Factor()
    factor = Factor(*row)
    # The column holds the windows as JSON.
    return msgspec.structs.replace(factor, windows=_windows.decode(str(factor.windows)))


def put_factor(partner_id: str, uid: str, factor: Factor) -> Stmt:
    """Return the statement that stores a member's authenticator in place of the old one."""
    return Stmt(
        "factors.put_factor",
        {
            "partner_id": partner_id,
            "uid": uid,
            **msgspec.structs.asdict(factor),
            "windows": msgspec.json.encode(factor.windows).decode(),
        },
        1,
    )


def delete_factor(partner_id: str, uid: str) -> Stmt:
    """Return the statement that deletes a member's authenticator, if there is one."""
    return Stmt("factors.delete_factor", {"partner_id": partner_id, "uid": uid})


async def list_enrolled(reader: Reader, partner_id: str) -> frozenset[str]:
    """Return the uids of an account's members with an authenticator in force, not a pending one.

    There are at most `MEMBERS_MAX`, because a removed member's authenticator is deleted.
    """
    return frozenset(
        str(uid) for (uid,) in await reader.all("factors.list_enrolled", partner_id=partner_id)
    )


async def admin_has_factor(reader: Reader, partner_id: str) -> bool:
    """Return whether an admin of the account has enrolled an authenticator."""
    return bool(await reader.one("factors.admin_has_factor", partner_id=partner_id))
