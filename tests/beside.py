"""Opens a database's file beside the service, with the library that the service uses.

Two libraries in one process would drop each other's locks on the file.
"""

from pathlib import Path

import apsw

WAIT_MS = 5000  # for a lock of the file, as the service waits


def open_beside(path: Path, *, read_only: bool = False) -> apsw.Connection:
    """Return a connection that commits each statement at once. The file is made if need be."""
    writable = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    flags = apsw.SQLITE_OPEN_READONLY if read_only else writable
    connection = apsw.Connection(str(path), flags)
    connection.set_busy_timeout(WAIT_MS)
    return connection
