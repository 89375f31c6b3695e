"""What a copy of the database must have in common with the original."""

from pathlib import Path

import msgspec

from pgs.storage.bulk import finish
from pgs.storage.ledger import broken_chains
from pgs.storage.queries import QUERIES
from pgs.storage.reader import Row
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import FAULTS, Connection
from pgs.storage.transactions import StoreOutage


class Content(msgspec.Struct, frozen=True):
    """What a database holds: its schema, every head, and the numbers of seats and ledger rows."""

    migrations: list[Row]
    heads: list[Row]
    counts: list[Row]


def content_of(connection: Connection) -> Content:
    """Return what a database holds. Raises what SQLite raises."""
    return Content(
        connection.execute("select name from migration order by name").fetchall(),
        list(QUERIES["backup.heads"](connection)),
        list(QUERIES["backup.counts"](connection)),
    )


def check_copy(path: Path, connection: Connection) -> None:
    """Raise `StoreOutage` unless a copy's pages and the chain of each ledger are sound."""
    try:
        faults = [str(row[0]) for row in connection.execute("pragma integrity_check(1)")]
        if faults != ["ok"]:
            raise StoreOutage(f"the copy is not sound: {faults[0]}")
        broken = finish(broken_chains(SqliteReader(connection)))
    except FAULTS as error:
        raise StoreOutage(f"the copy is not sound: {path}: {error}") from error
    if broken:
        raise StoreOutage(f"the copy's ledger is not sound: {broken[0]}")
