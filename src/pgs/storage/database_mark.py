"""The mark beside the database: which database belongs here, and how many commits it must have.

SQLite opens whatever it finds. If the database is gone, it makes a new one; if its log is gone, it
continues without the last commits; and it applies a log to any file of the right name. A start
compares the files with the mark before SQLite opens them. Before it writes a row, it also compares
the number of commits.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

MARK_NAME: Final = "pgs.mark"

_SIZE = 256
"""Bytes of `pgs.mark`, the file that says which database belongs in the folder. It is rewritten in
place after each commit, and always whole."""

State = Literal["making", "open", "closed"]


class Mark(msgspec.Struct, frozen=True):
    """What the last process knew of the database.

    `state`: the database was being made, was open, or was closed properly. `database`: a random
    number, drawn when the database was made: SQLite keeps it in the file's header, PostgreSQL in a
    row. `commits`: the least number of the writer's commits that the database must have. `file`,
    `log`: the inodes of SQLite's database and of its log while they were open. `writing_back`:
    SQLite may have been writing its log back into the database's file.
    """

    state: State
    database: int = 0
    commits: int = 0
    file: int = 0
    log: int = 0
    writing_back: bool = False


class DamagedMark(Exception):
    """The mark exists and cannot be read."""


def read_mark(folder: Path) -> Mark | None:
    """Return the folder's mark, or None if there is none. Raises `DamagedMark`."""
    try:
        return msgspec.json.decode((folder / MARK_NAME).read_bytes(), type=Mark)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedMark(str(error)) from error


def write_mark(folder: Path, mark: Mark) -> None:
    """Replace the folder's mark. It is on disk when this returns. Raises OSError."""
    part = folder / (MARK_NAME + ".new")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(_spell(mark))
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / MARK_NAME)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make the names of the folder's files durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _spell(mark: Mark) -> bytes:
    return msgspec.json.encode(mark).ljust(_SIZE - 1) + b"\n"


class OpenMark:
    """The mark of a database that is open. Each commit of the writer updates it."""

    def __init__(self, folder: Path, mark: Mark) -> None:
        """Write the mark to disk. Raises OSError."""
        self._folder = folder
        self._mark = mark
        write_mark(folder, mark)
        self._file = os.open(folder / MARK_NAME, os.O_WRONLY | os.O_CLOEXEC)

    def follow(self, commits: int) -> None:
        """Note how many commits the database holds now.

        The file is not synced. After a power cut the mark may name fewer commits than there are,
        which does no harm.
        """
        self._write(msgspec.structs.replace(self._mark, commits=commits, writing_back=False))

    def begin_write_back(self) -> None:
        """Note that SQLite writes the database's file from now until `follow`.

        SQLite syncs that file, so the mark is synced too. Otherwise a power cut could leave the new
        file beside an old mark, and the next start would conclude that somebody has overwritten the
        file. After `close` this does nothing.
        """
        if self._file < 0:
            return
        self._write(msgspec.structs.replace(self._mark, writing_back=True))
        with suppress(OSError):
            os.fsync(self._file)

    def _write(self, mark: Mark) -> None:
        self._mark = mark
        with suppress(OSError):  # the mark then lags behind, as after a power cut
            os.pwrite(self._file, _spell(mark), 0)

    def close(self, *, properly: bool) -> None:
        """Stop following the commits. If `properly`, note that the database was closed properly.

        A second call does nothing.
        """
        file, self._file = self._file, -1
        if file < 0:
            return
        os.close(file)
        if properly:
            closed = msgspec.structs.replace(self._mark, state="closed", writing_back=False)
            with suppress(OSError):  # the next start then compares more than it needs to
                write_mark(self._folder, closed)
