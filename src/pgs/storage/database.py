"""The data folder's database: its writer, and the reader on the event loop.

Nothing outside this package sees SQL or a connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import trio

from pgs.storage.connections import DATABASE_NAME, connect, create_database, is_new_database
from pgs.storage.data_folder import DataLock
from pgs.storage.first_terms import ship
from pgs.storage.migrations import migrate
from pgs.storage.reader import Reader
from pgs.storage.writer import Writer


class Database:
    """The data folder's database, opened by the one process that may write it."""

    def __init__(
        self,
        folder: Path,
        *,
        inline: bool = False,
        factory: type[sqlite3.Connection] = sqlite3.Connection,
        on_locked: Callable[[bool], None] = lambda is_new: None,
    ) -> None:
        """Lock the folder, bring the schema up to date and open the connections.

        `inline` reads and commits on the event loop's thread. It is for tests, whose virtual clock
        does not wait for other threads. `factory` is the class of connections, for tests that break
        them. `on_locked` is called before the database file is touched; its argument tells whether
        the file will be new. If it raises, the database is not opened. Raises `DataFolderInUse`,
        `SchemaNewer` or `StoreOutage`.
        """
        self.folder = folder
        self.path = folder / DATABASE_NAME
        self.inline = inline
        # One bulk read at a time leaves the file cache to the other reads. The limit belongs to
        # this database and not to the process, because a read that was abandoned at the end of a
        # trio run would hold a shared limit for ever.
        self.bulk_limit = trio.CapacityLimiter(1)
        # A check of the whole ledger may take minutes, and bulk reads must not wait for it.
        self.check_limit = trio.CapacityLimiter(1)
        self._factory = factory
        with ExitStack() as undo:
            self._lock = DataLock(folder)
            undo.callback(self._lock.release)
            is_new = is_new_database(self.path)
            on_locked(is_new)
            if is_new:
                create_database(self.path)
            connection = connect(self.path, factory=factory)
            undo.callback(connection.close)
            migrate(connection)
            ship(connection)
            self.reader = self.second_reader()
            self.writer = Writer(connection, inline=inline)
            undo.pop_all()

    def start(self) -> None:
        """Start the writer; call it inside the trio run."""
        self.writer.start()

    def second_reader(self) -> Reader:
        """Return a reader with a new connection, for a bulk read; the caller closes it.

        Raises `StoreOutage`.
        """
        return Reader(connect(self.path, query_only=True, factory=self._factory))

    def close(self) -> None:
        """Finish the commits under way, close, and release the folder.

        If a commit hangs, the folder stays locked, since that commit may still succeed.
        """
        self.reader.close()
        if self.writer.close():
            self._lock.release()
