"""A copy of the database while it is in use."""

import os
import sqlite3
from pathlib import Path

import trio

from pgs.storage.database import DATABASE_NAME, Database, StoreOutage, connect

_LIMITER = trio.CapacityLimiter(1)  # one at a time: a copy reads the whole file


async def back_up(database: Database, folder: Path) -> Path:
    """Return the file in `folder` that now holds the database as it stood at one moment, checked and on disk.

    Writing goes on meanwhile. Off the event loop; the in-line mode copies where it is called. Raises `StoreOutage`.
    """
    if database.inline:
        return _copy(database.path, folder)
    return await trio.to_thread.run_sync(_copy, database.path, folder, limiter=_LIMITER)


def _copy(source_path: Path, folder: Path) -> Path:
    path = folder / DATABASE_NAME
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        source = connect(source_path, query_only=True)
        try:
            copy = sqlite3.connect(path, isolation_level=None)
            try:
                source.backup(copy)  # in one step: in several, each commit meanwhile would start it again
                copy.execute("pragma journal_mode=delete")  # one file, with nothing beside it that could be left behind
                faults = [row[0] for row in copy.execute("pragma integrity_check(1)")]
            finally:
                copy.close()
        finally:
            source.close()
        _sync(path)
    except (sqlite3.Error, OSError) as error:
        raise StoreOutage(f"the copy failed: {error}") from error
    if faults != ["ok"]:
        raise StoreOutage(f"the copy is not sound: {faults[0]}")
    return path


def _sync(path: Path) -> None:
    for opened in (path, path.parent):
        descriptor = os.open(opened, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
