"""Connections to the database file, with the settings that this product relies on."""

from __future__ import annotations

import os
from pathlib import Path

from pgs.storage.sqlite_driver import Connection, Error, opened, value_of
from pgs.storage.transactions import StoreOutage

DATABASE_NAME = "pgs.db"


BUSY_TIMEOUT_S = 5.0
"""Seconds that a statement waits for the file's lock. While a service runs, only its writer takes
the lock: readers and backups do not need it."""


LOG_PAGES = 4000
"""Pages in the write-ahead log after which they are written back into the database: 16 MB. A page
that many seats change is then written back a quarter as often as with SQLite's default of 1000. The
log is longer only during a long read."""


WRITER_CACHE_BYTES = 16 * 1024 * 1024
"""Bytes of pages that the writer keeps in memory. With 200 partners and SQLite's default of 2 MB,
it had to read 4.9 pages again for each seat; with this value it reads 1.5."""


def connect(
    path: Path,
    *,
    query_only: bool = False,
    cache_bytes: int | None = None,
    factory: type[Connection] = Connection,
) -> Connection:
    """Return a connection with a write-ahead log, `synchronous=FULL` and no implicit transactions.

    `cache_bytes`: bytes of pages that it may keep in memory; None for SQLite's default.
    It never creates a file, so that no empty database takes the place of a missing one. Raises
    `StoreOutage` if the file cannot be opened, or if SQLite cannot keep a write-ahead log in its
    folder.
    """
    try:
        connection = opened(path.absolute().as_uri(), BUSY_TIMEOUT_S, factory)
        try:
            mode = value_of(connection, "pragma journal_mode=wal")
            if mode != "wal":
                raise StoreOutage(f"{path}: SQLite keeps no write-ahead log here (mode: {mode})")
            # A commit may move money, so it must survive a power cut once it is acknowledged.
            connection.execute("pragma synchronous=full")
            connection.execute(f"pragma wal_autocheckpoint={LOG_PAGES}")
            if cache_bytes is not None:
                connection.execute(f"pragma cache_size={-cache_bytes // 1024}")
            if query_only:
                connection.execute("pragma query_only=on")
        except BaseException:
            connection.close()
            raise
    except Error as error:
        raise StoreOutage(f"{path}: {error}") from error
    return connection


def create_database(path: Path) -> None:
    """Make an empty database that only its owner may read.

    A random number in its header, SQLite's `application_id`, distinguishes it from every other
    database. The file gets its name when it is complete, so that a kill never leaves an empty file
    under that name. Raises `StoreOutage`.
    """
    part = path.with_name(path.name + ".new")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connection = connect(part)  # switching to a write-ahead log writes the file's first page
        try:
            number = value_of(connection, "select 1 + abs(random() % 2147483646)")
            connection.execute(f"pragma application_id={number}")
        finally:
            connection.close()
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise StoreOutage(f"{path} cannot be made: {error.strerror}") from error


def mark_as_copy(connection: Connection) -> None:
    """Mark the database as a copy, on which the next start advances every feed's head.

    The mark is the header's field `user_version`, which a copy of the file keeps, and which nothing
    else here uses. Raises what SQLite raises.
    """
    connection.execute("pragma user_version=1")


def is_copy(connection: Connection) -> bool:
    """Return whether no service has started on this copy yet. Raises what SQLite raises."""
    return bool(value_of(connection, "pragma user_version") == 1)
