"""The connections for bulk reads, a few of which stay open between two reads.

Other threads use these connections while the writer's thread may change to another server. An old
primary that still runs answers reads, but lacks all commits since the fail-over. So connections to
it are closed, and none of them is kept for a later read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from psycopg import pq

from pgs.storage.postgres.connection import Connection

IDLE_READERS: Final = 4
"""Connections for bulk reads that stay open between two reads. `Database` has four limits on such
reads, each of which admits one read at a time."""


class BulkConnections:
    """Connections to the writer's server; each is used by one thread at a time."""

    def __init__(self, here: Callable[[], str], connect: Callable[[str], pq.abc.PGconn]) -> None:
        """`here` returns the address of the writer's server now. `connect` opens a connection."""
        self._here = here
        self._connect = connect
        self._guard = threading.Lock()  # guards the attributes below
        self._idle: list[Connection] = []
        self._fresh: set[Connection] = set()  # connections that may go back to `_idle`
        self._renewals = 0

    def take(self) -> Connection:
        """Return a connection to the writer's server. Raises `StoreOutage`.

        If the writer changes to another server while a connection is being opened, that connection
        is closed, and another one is opened.
        """
        while True:
            with self._guard:
                if self._idle:
                    return self._idle.pop()
                renewals = self._renewals
            address = self._here()
            connection = Connection(self._connect(address), lambda warning: None)
            with self._guard:
                # A server may also change behind the same address.
                if renewals == self._renewals and address == self._here():
                    self._fresh.add(connection)
                    return connection
            connection.close()

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next read, or close it."""
        is_clean = connection.opened.transaction_status == pq.TransactionStatus.IDLE
        with self._guard:
            if is_clean and connection in self._fresh and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
            self._fresh.discard(connection)
        connection.close()

    def renew(self) -> None:
        """Close every connection that was opened before this call, the idle ones immediately.

        A connection in use is closed when it is given back. One that is just being opened is closed
        once it is open.
        """
        with self._guard:
            idle, self._idle = self._idle, []
            self._fresh.clear()
            self._renewals += 1
        for connection in idle:
            connection.close()
