"""Connections to the database file, with the settings that this product relies on."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from pgs.storage.transactions import StoreOutage

DATABASE_NAME = "pgs.db"


BUSY_TIMEOUT_S = 5.0
"""Seconds that a statement waits for the file's lock. Only the writer holds the lock, and a backup
for a short time."""


LOG_PAGES = 4000
"""Pages in the write-ahead log after which SQLite writes them back into the database: 16 MB. Pages
that many seats share are then written back once for four times as many seats as at SQLite's default
of 1000. The log is longer only while something reads for long."""

# The errors of SQLite that mean a bug: wrong calls and broken constraints. All its other errors
# mean a fault of the machine.
BUGS = (
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.NotSupportedError,
)


def connect(
    path: Path, *, query_only: bool = False, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    """Return a connection with a write-ahead log, `synchronous=FULL` and no implicit transactions.

    It never makes a file: SQLite would put an empty database where one is missing. Raises
    `StoreOutage` if the file cannot be opened, or if SQLite cannot keep a write-ahead log in its
    folder.
    """
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT_S,
            cached_statements=256,
            factory=factory,
        )
        try:
            (mode,) = connection.execute("pragma journal_mode=wal").fetchone()
            if mode != "wal":
                raise StoreOutage(f"{path}: no write-ahead log, but {mode}")
            # A commit may move money, so it must survive a power cut once it is acknowledged.
            connection.execute("pragma synchronous=full")
            connection.execute(f"pragma wal_autocheckpoint={LOG_PAGES}")
            if query_only:
                connection.execute("pragma query_only=on")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreOutage(f"{path}: {error}") from error
    return connection


def create_database(path: Path) -> None:
    """Make an empty database that only its owner may read.

    A random number in its header, SQLite's `application_id`, tells it from every other database.
    The file gets its name when it is complete, so that a kill never leaves an empty file under that
    name. Raises `StoreOutage`.
    """
    part = path.with_name(path.name + ".new")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connection = connect(part)  # switching to a write-ahead log writes the file's first page
        try:
            (number,) = connection.execute("select 1 + abs(random() % 2147483646)").fetchone()
            connection.execute(f"pragma application_id={number}")
        finally:
            connection.close()
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise StoreOutage(f"{path} cannot be made: {error.strerror}") from error


def mark_as_copy(connection: sqlite3.Connection) -> None:
    """Mark the database as a copy, whose next start raises every feed's head.

    Raises what SQLite raises.

    A copy of the file keeps `user_version`, and nothing else here uses that field.
    """
    connection.execute("pragma user_version=1")


def is_copy(connection: sqlite3.Connection) -> bool:
    """Return whether no service has started on this copy yet. Raises what SQLite raises."""
    return bool(connection.execute("pragma user_version").fetchone() == (1,))
