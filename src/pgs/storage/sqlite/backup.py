"""Copies the database while it is in use, and prepares the first start on such a copy.

A field in the header of a copy marks it as a copy. The first start on it advances every feed, as
`restored_feeds` explains.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import structlog

from pgs.config import KEY_FILE_NAME
from pgs.storage.backup import BadTarget
from pgs.storage.queries import QUERIES
from pgs.storage.restored_feeds import advance_params
from pgs.storage.sqlite.connections import (
    BUSY_TIMEOUT_S,
    DATABASE_NAME,
    connect,
    is_copy,
    mark_as_copy,
)
from pgs.storage.sqlite.content import check_copy, content_of
from pgs.storage.sqlite_driver import FAULTS, Connection, copy_all, opened
from pgs.storage.transactions import StoreOutage

_PART = DATABASE_NAME + ".part"
_LEFT_BEHIND = (_PART, _PART + "-journal", KEY_FILE_NAME, KEY_FILE_NAME + ".new")

log = structlog.get_logger("pgs.backup")


class Source(Protocol):
    """An open database that is copied."""

    folder: Path

    def connect_to_read(self) -> Connection:
        """Return a new connection that can only read. Raises `StoreOutage`."""

    def lost(self) -> str | None:
        """Return which database file has vanished or was replaced; None while all is well."""


def back_up(source: Source, folder: Path, copy_keys: Callable[[Path], None]) -> Path:
    """Return the path of a checked copy of the database, as of one moment, in `folder`.

    The folder is created, or must be empty. The copy gets its final name last, so a folder that has
    a file of that name is complete. A failure leaves nothing behind. Writes to the database
    continue meanwhile. Raises `BadTarget` and `StoreOutage`.
    """
    made = _claim(source, folder)
    try:
        _copy(source, folder / _PART)
        copy_keys(folder / KEY_FILE_NAME)
        (folder / _PART).rename(folder / DATABASE_NAME)
        _sync(folder)
    except BaseException as error:
        _discard(folder, made)
        if isinstance(error, (*FAULTS, OSError)):
            raise StoreOutage(f"the copy failed: {error}") from error
        raise
    return folder / DATABASE_NAME


def _claim(source: Source, folder: Path) -> list[Path]:
    """Make sure that the folder exists and is empty; return the folders that were created.

    If the folder was missing, these are the folder and then those of its parents that were missing.
    Files that a killed backup left there are removed.
    """
    if folder.resolve().is_relative_to(source.folder.resolve()):
        raise BadTarget(
            f"{folder} lies in the service's own data folder, and would be lost together with it"
        )
    made: list[Path] = []
    try:
        made += [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = {path.name for path in folder.iterdir()}
        if _PART in found and found.issubset(_LEFT_BEHIND):
            _discard(folder, [])
        elif found:
            raise BadTarget(f"{folder} is not empty: a backup goes into a folder of its own")
        (folder / _PART).touch(mode=0o600, exist_ok=False)
    except OSError as error:
        _remove(made)
        raise BadTarget(f"{folder} cannot be written: {error.strerror}") from error
    return made


def _discard(folder: Path, made: list[Path]) -> None:
    for name in (DATABASE_NAME, *_LEFT_BEHIND):
        (folder / name).unlink(missing_ok=True)
    _remove(made)


def _remove(made: list[Path]) -> None:
    """Remove the folders that are there and empty."""
    for path in made:
        with suppress(OSError):
            path.rmdir()


def _copy(source: Source, path: Path) -> None:
    connection = source.connect_to_read()
    try:
        connection.execute("begin")
        was = content_of(connection)  # the copy is made in the same transaction
        copy = opened(path.absolute().as_uri(), BUSY_TIMEOUT_S)
        try:
            copy_all(connection, copy)
            # Without a write-ahead log the copy is a single file.
            copy.execute("pragma journal_mode=delete")
            mark_as_copy(copy)
            check_copy(path, copy)
            if content_of(copy) != was:
                raise StoreOutage("the copy differs from the database")
        finally:
            copy.close()
    finally:
        connection.close()
    if lost := source.lost():
        raise StoreOutage(lost)
    _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def take_over(path: Path, now: int) -> bool:
    """Advance every feed's head if this is the first start on a backup; return whether it is.

    Call it before the writer starts. `now` is in epoch seconds. A partner without a head gets one,
    since its first seats may have been taken after the copy was made. Sequence numbers of seats do
    not advance, since nobody outside sees them. Raises `StoreOutage`.
    """
    connection = connect(path)
    try:
        if not is_copy(connection):
            return False
        connection.execute("begin immediate")
        QUERIES["backup.add_missing_heads"](connection)
        QUERIES["backup.advance_feed_heads"](connection, **advance_params(now))
        connection.execute("pragma user_version=0")
        connection.execute("commit")
    except FAULTS as error:
        raise StoreOutage(f"the restored copy cannot be taken over: {error}") from error
    finally:
        connection.close()
    log.info("restored", database=str(path))
    return True
