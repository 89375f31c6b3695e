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


def connect(
    path: Path, *, query_only: bool = False, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    """Return a connection with a write-ahead log, `synchronous=FULL` and no implicit transactions.

    Raises `StoreOutage` if the file cannot be opened, or if SQLite cannot keep a write-ahead log in
    its folder.
    """
    try:
        connection = sqlite3.connect(
            path,
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
            if query_only:
                connection.execute("pragma query_only=on")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreOutage(f"{path}: {error}") from error
    return connection


def is_new_database(path: Path) -> bool:
    """Return whether there is no database yet.

    Raises `StoreOutage` for an empty file, in which SQLite would silently make a new database.
    """
    try:
        if path.stat().st_size == 0:
            raise StoreOutage(
                f"{path} is an empty file and no database: put the right one in its place, "
                "or remove it to begin a new one"
            )
    except FileNotFoundError:
        return True
    return False


def create_database(path: Path) -> None:
    """Make an empty database that only its owner may read.

    The file gets its name when it is complete, so that a kill never leaves an empty file under that
    name. Raises `StoreOutage`.
    """
    part = path.with_name(path.name + ".new")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connect(part).close()  # switching to a write-ahead log writes the file's first page
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise StoreOutage(f"{path} cannot be made: {error.strerror}") from error
