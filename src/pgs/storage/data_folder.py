"""The data folder's lock, which one process holds at a time, and errors about the folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

from pgs.storage.transactions import StoreOutage

LOCK_NAME = "lock"
"""The file in the data folder that its process locks. It stays when the process ends."""

SOCKET_NAME = "operator.sock"
"""The socket for operators' commands, in the data folder while a service runs."""


class DataFolderInUse(Exception):
    """Another process owns the data folder."""


class DataRefused(StoreOutage):
    """The database and the data folder do not belong together, or a part is missing or damaged.

    The message says what was found, and what to do. No data of partners has changed. On SQLite,
    opening the database may have rewritten `pgs.mark`, and may have written the log back into the
    database's file. On PostgreSQL, opening may have applied missing migrations, and may have stored
    the numbers that identify the database and its server.
    """


class BadSource(Exception):
    """A database cannot be copied, restored or accepted as it is; the message says why."""


class LossAccepted(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of `pgs db accept-loss`: the folder, and how many commits its database holds."""

    folder: str
    commits: int


class DataLock:
    """The data folder's lock. Only the process that holds it may write the database."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, if needed, and take its lock. Raises `DataFolderInUse`."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            if isinstance(error, BlockingIOError):
                raise DataFolderInUse(str(folder)) from None
            raise

    def release(self) -> None:
        """Release the lock. Releasing it twice is no error."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
