"""A database of SQLite in the data folder: its writer, and the reader on the event loop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import trio
from msgspec.structs import replace

from pgs.config import KEY_FILE_NAME
from pgs.storage.data_folder import DataLock
from pgs.storage.database import SINCE_MAX
from pgs.storage.database_mark import Mark, OpenMark, write_mark
from pgs.storage.first_terms import first_terms
from pgs.storage.migrations import migrate, migrations_of
from pgs.storage.pauses import no_pause, pause
from pgs.storage.queries import QUERIES
from pgs.storage.reader import Reader
from pgs.storage.sqlite.backup import back_up, take_over
from pgs.storage.sqlite.checks import all_faults_of, faults_of
from pgs.storage.sqlite.commits import SqliteCommits
from pgs.storage.sqlite.connections import (
    DATABASE_NAME,
    WRITER_CACHE_BYTES,
    connect,
    create_database,
    mark_as_copy,
)
from pgs.storage.sqlite.identity import OpenFiles, commits_in, header_number, judge, judge_commits
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import FAULTS, Connection
from pgs.storage.transactions import StoreOutage
from pgs.storage.writer import Writer


class SqliteDatabase:
    """The data folder's database, opened by the one process that may write it."""

    def __init__(
        self,
        folder: Path,
        *,
        inline: bool = False,
        factory: type[Connection] = Connection,
        key_file: Path | None = None,
        on_locked: Callable[[bool], None] = lambda is_new: None,
    ) -> None:
        """Lock the folder, bring the schema up to date and open the connections.

        `inline` reads and commits on the event loop's thread. It is for tests, whose virtual clock
        does not wait for other threads. `factory` is the class of connections, for tests that break
        them. `key_file` is the key ring's place, by default in the folder. `on_locked` is called
        before the database file is touched; its argument says whether the file will be new. If it
        raises, the database is not opened. Raises `DataFolderInUse`, `DataRefused`, `SchemaNewer`
        or `StoreOutage`.
        """
        self.folder = folder
        self.path = folder / DATABASE_NAME
        self.inline = inline
        # One bulk read at a time leaves the file cache to the other reads. The limit belongs to
        # this database and not to the process, because a read that was abandoned at the end of a
        # trio run would never give a shared limit back.
        self.bulk_limit = trio.CapacityLimiter(1)
        # A check of the whole ledger may take minutes, and bulk reads must not wait for it.
        self.check_limit = trio.CapacityLimiter(1)
        # A call for digests may read very many rows, and a partner may repeat the call before it
        # has the answer.
        self.digest_limit = trio.CapacityLimiter(1)
        self.since_limit = trio.CapacityLimiter(SINCE_MAX)
        self._factory = factory
        with ExitStack() as undo:
            self._lock = DataLock(folder)
            undo.callback(self._lock.release)
            mark = judge(folder, key_file or folder / KEY_FILE_NAME)
            is_new = not self.path.exists()
            if is_new:
                _write(folder, Mark("making"))
            on_locked(is_new)
            if is_new:
                create_database(self.path)
            elif mark is not None and mark.state == "open":
                # A killed process may have left a log, and the connection that is opened below may
                # write that log back into the database's file.
                _write(folder, replace(mark, writing_back=True))
            number = header_number(self.path)
            connection = connect(self.path, cache_bytes=WRITER_CACHE_BYTES, factory=factory)
            undo.callback(connection.close)
            judge_commits(self.path, mark, commits_in(connection))
            if mark is None:
                mark_as_copy(connection)
            migrate(connection)
            QUERIES["terms.ship_terms"](connection, text=first_terms())
            self.files, self._mark = self._follow(connection, number)
            undo.callback(self._mark.close, properly=False)
            self.reader: Reader = self.second_reader()
            self.writer = Writer(SqliteCommits(connection, self), inline=inline)
            undo.pop_all()

    def _follow(self, connection: Connection, number: int) -> tuple[OpenFiles, OpenMark]:
        """Make a commit; return the files as they are then, and the mark of the open database.

        This commit is only in the log, and the mark counts it. So a lost log is always noticed.
        """
        connection.execute("begin immediate")
        (commits,) = QUERIES["heartbeat.count_write"](connection)
        connection.execute("commit")
        files = OpenFiles(self.path)
        try:
            mark = OpenMark(self.folder, Mark("open", number, commits, files.file, files.log))
        except OSError as error:
            raise StoreOutage(f"the mark cannot be written: {error}") from error
        return files, mark

    def lost(self) -> str | None:
        """Return which database file has vanished or was replaced; None while all is well."""
        return self.files.lost()

    def writing_back(self) -> None:
        """Note that the database's file is written from now until `committed`."""
        self._mark.begin_write_back()

    def committed(self, commits: int) -> None:
        """Note how many commits of the writer the database holds now."""
        self._mark.follow(commits)

    def take_over(self, now: int) -> bool:
        """Advance every feed's head if this is a backup's first start; return whether it is."""
        return take_over(self.path, now)

    def migrations(self) -> list[str]:
        """Return the names of the migrations applied, in order. Raises `StoreOutage`."""
        with closing(self.connect_to_read()) as connection:
            try:
                return migrations_of(connection)
            except FAULTS as error:
                raise StoreOutage(str(error)) from error

    def faults(self) -> list[str]:
        """Return what SQLite's check of the whole file finds. Raises `StoreOutage`."""
        with closing(self.connect_to_read()) as connection:
            return faults_of(connection)

    def all_faults(self) -> list[str]:
        """Return the faults of pages, indexes and ledgers. Raises `StoreOutage`."""
        with closing(self.connect_to_read()) as connection:
            return all_faults_of(connection, no_pause if self.inline else pause)

    def back_up(self, folder: Path, copy_keys: Callable[[Path], None]) -> Path:
        """Return the path of a checked copy. Raises `BadTarget` and `StoreOutage`."""
        return back_up(self, folder, copy_keys)

    def start(self) -> None:
        """Start the writer; call it inside the trio run."""
        self.writer.start()

    async def wait_for_changes(self) -> None:
        """Never return: only one process can write this database."""
        await trio.sleep_forever()

    def second_reader(self) -> Reader:
        """Return a reader with a new connection, for a bulk read; the caller closes it.

        Raises `StoreOutage`, also if the file in the folder has been replaced since the start.
        """
        return SqliteReader(self.connect_to_read())

    def connect_to_read(self) -> Connection:
        """Return a new connection that can only read. Raises `StoreOutage` like `second_reader`."""
        if lost := self.lost():
            raise StoreOutage(lost)
        return connect(self.path, query_only=True, factory=self._factory)

    def close(self) -> None:
        """Finish the commits under way, close, and release the folder.

        If a commit hangs, the folder stays locked, since that commit may still succeed.
        """
        self.reader.close()
        lost = self.lost()
        if self.writer.close():
            # If the mark stays open, the next start looks for missing commits.
            self._mark.close(properly=lost is None)
            self._lock.release()


def _write(folder: Path, mark: Mark) -> None:
    try:
        write_mark(folder, mark)
    except OSError as error:
        raise StoreOutage(f"the mark cannot be written: {error}") from error
