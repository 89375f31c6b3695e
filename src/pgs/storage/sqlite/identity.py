"""Checks a data folder before its database is opened, and the database's files afterwards."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

from pgs.domain.plurals import counted, the_last
from pgs.storage.data_folder import SOCKET_NAME, DataRefused
from pgs.storage.database_mark import MARK_NAME, DamagedMark, Mark, read_mark
from pgs.storage.queries import QUERIES
from pgs.storage.sqlite.connections import DATABASE_NAME
from pgs.storage.sqlite_driver import FAULTS, Connection
from pgs.storage.transactions import StoreOutage

_HEADER = struct.Struct(">16s52xi28x")  # of SQLite's file format: the magic and application_id
_MAGIC = b"SQLite format 3\0"

LATER_S: Final = 2.0
"""Seconds by which the database's file may be younger than `pgs.mark` after a kill. Some file
systems keep times in steps of two seconds. A file that is younger by more was overwritten after the
kill, unless SQLite was writing its log back into it."""


def judge(folder: Path, key_file: Path) -> Mark | None:
    """Return the folder's mark; None if the database has never been open in this folder.

    A mark in the state `making` means that the folder is new. Raises `DataRefused` and
    `StoreOutage`.
    """
    path = folder / DATABASE_NAME
    try:
        mark = read_mark(folder)
    except DamagedMark as error:
        raise DataRefused(
            f"{folder / MARK_NAME} is damaged ({error}), so nobody knows whether {path} is "
            f"complete. {_ACCEPT}"
        ) from error
    if not path.exists():
        return _judge_empty(folder, key_file, mark)
    header = header_number(path)
    if mark is None or mark.state == "making":
        return mark
    if header != mark.database:
        raise DataRefused(
            f"{path} is not the database that was last open in {folder}. Put the right file back. "
            f"{_RESTORE}"
        )
    if mark.state == "open":
        _judge_log(path, mark)
    return mark


_RESTORE = "To go on from a copy, run `pgs db restore COPY`."
_ACCEPT = (
    "If the loss is accepted, run `pgs db accept-loss`: the next start then advances every feed "
    "past all positions ever read."
)


def _judge_empty(folder: Path, key_file: Path, mark: Mark | None) -> Mark:
    """Return the mark of a database to be made. Raises `DataRefused` if there was one before."""
    names = [DATABASE_NAME + suffix for suffix in ("-wal", "-shm", "-journal")]
    found = [folder / name for name in names if (folder / name).exists()]
    if (folder / SOCKET_NAME).is_socket():
        found.append(folder / SOCKET_NAME)
    if mark is not None and mark.state != "making":
        found.append(folder / MARK_NAME)
    if mark is None and key_file.exists():
        found.append(key_file)
    if not found:
        return Mark("making")
    raise DataRefused(
        f"{folder / DATABASE_NAME} is missing, but {' and '.join(map(str, found))} "
        f"{'is' if len(found) == 1 else 'are'} there, so this service is not new. Mount the "
        f"volume or put the database back, with its log. {_RESTORE} For a new service, name a new "
        "folder (--data), and another key ring (PGS_SECRET_KEY_FILE)"
    )


def header_number(path: Path) -> int:
    """Return the number in the file's header, read without SQLite, which would apply a log.

    No connection of this process may be open: closing the file would drop SQLite's locks.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except OSError as error:
        raise StoreOutage(f"{path}: {error.strerror}") from error
    if not header:
        raise StoreOutage(
            f"{path} is an empty file and no database: put the right one in its place, "
            "or restore a backup (`pgs db restore`)"
        )
    magic, number = _HEADER.unpack(header.ljust(_HEADER.size))
    if magic != _MAGIC:
        raise StoreOutage(f"{path}: file is not a database. {_RESTORE}")
    return int(number)


def _judge_log(path: Path, mark: Mark) -> None:
    """Raise `DataRefused` if the log belongs to another database file.

    SQLite would write that log into this file. This would damage the database, and remove the log,
    which holds the last commits of the other file.
    """
    try:
        log = os.stat(f"{path}-wal")
    except FileNotFoundError:
        return  # the number of commits shows whether something is missing
    if log.st_size == 0:
        return
    file = path.stat()
    replaced = file.st_ino != mark.file and log.st_ino == mark.log
    marked_at = (path.parent / MARK_NAME).stat().st_mtime
    is_later = file.st_mtime > marked_at + LATER_S
    overwritten = file.st_ino == mark.file and is_later and not mark.writing_back
    if replaced or overwritten:
        raise DataRefused(
            f"{path} was replaced after the service ended, and {path}-wal is the log of the file "
            f"that was there before. Put that file back. {_RESTORE}"
        )


def commits_in(connection: Connection) -> int:
    """Return how many commits the database holds. Raises `StoreOutage`."""
    try:
        row = QUERIES["heartbeat.writes"](connection)
    except FAULTS as error:
        if "no such table" in str(error):  # no migration has run
            return 0
        raise StoreOutage(str(error)) from error
    return int(row[0]) if row else 0


def judge_commits(path: Path, mark: Mark | None, commits: int) -> None:
    """Raise `DataRefused` if the database holds fewer commits than the mark names."""
    if mark is None or commits >= mark.commits:
        return
    missing = mark.commits - commits
    if mark.state == "open":
        raise DataRefused(
            f"{path} lacks {the_last(missing, 'commit')}: its log {path}-wal is lost or cut short, "
            f"or an older copy was put in its place. Put back what was there. {_RESTORE} {_ACCEPT}"
        )
    raise DataRefused(
        f"{path} is an older copy: the one that was last open here had "
        f"{counted(missing, 'more commit')}. Put that one back. {_RESTORE} {_ACCEPT}"
    )


class OpenFiles:
    """The database's files as opened, to notice when other files have taken their names."""

    def __init__(self, path: Path) -> None:
        """Remember the files. Raises `StoreOutage` if one is missing."""
        names = [f"{path}{suffix}" for suffix in ("", "-wal", "-shm")]
        try:
            found = {name: os.stat(name) for name in names}
        except OSError as error:
            raise StoreOutage(f"{error.filename}: {error.strerror}") from error
        self._known = {name: (stat.st_dev, stat.st_ino) for name, stat in found.items()}
        self.file, self.log = (found[name].st_ino for name in names[:2])

    def lost(self) -> str | None:
        """Return which file has vanished or was replaced, and what to do; None while all is well.

        It only looks at names: opening and closing a file would drop SQLite's locks on it.
        """
        for name, known in self._known.items():
            try:
                stat = os.stat(name)
            except FileNotFoundError:
                return f"{name} has vanished: put it back before the service ends"
            except OSError as error:
                return f"{name}: {error.strerror}"
            if (stat.st_dev, stat.st_ino) != known:
                return f"{name} was replaced: put back the file that was there"
        return None
