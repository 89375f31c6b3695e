"""Reads the applied migrations, and runs SQLite's own check of the database."""

import sqlite3
from pathlib import Path

import trio

from pgs.storage.connections import connect
from pgs.storage.database import Database
from pgs.storage.transactions import StoreOutage

SHOWN_LIMIT = 100
"""Faults listed in one report. A longer list would be of no more help to an operator."""

# One at a time: a check reads the whole file.
_LIMITER = trio.CapacityLimiter(1)


async def check_integrity(database: Database) -> list[str]:
    """Return the faults of the database's pages, indexes and constraints; none if it is sound.

    It reads the whole file, with a separate connection and on a separate thread (on the caller's
    thread if the database is `inline`). Raises `StoreOutage` if the file cannot be opened.
    """
    if database.inline:
        return _faults(database.path)
    return await trio.to_thread.run_sync(_faults, database.path, limiter=_LIMITER)


def _faults(path: Path) -> list[str]:
    connection = connect(path, query_only=True)
    try:
        found = [
            str(row[0]) for row in connection.execute(f"pragma integrity_check({SHOWN_LIMIT})")
        ]
    except sqlite3.DatabaseError as error:  # too damaged to be checked
        return [str(error)]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


def migrations_of(database: Database) -> list[str]:
    """Return the names of the migrations applied, in order. Raises `StoreOutage`."""
    connection = connect(database.path, query_only=True)
    try:
        return [name for (name,) in connection.execute("select name from migration order by name")]
    except sqlite3.Error as error:
        raise StoreOutage(str(error)) from error
    finally:
        connection.close()
