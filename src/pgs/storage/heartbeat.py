"""The write with which readiness tests the database, and the time of the newest row."""

from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt, Tx


def beat() -> Tx:
    """Return a transaction that writes only the heartbeat's row."""
    return Tx("", (Stmt("heartbeat.beat", {}, 1),))


async def newest_row_at(reader: Reader) -> int | None:
    """Return when the newest rows were written, in epoch seconds; None in an empty database.

    It looks only at the newest event of each account, the newest seat of all accounts, and the last
    row of each feed.
    """
    row = await reader.one("heartbeat.newest_row")
    return row[0] if row else None
