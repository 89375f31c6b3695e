"""The data folder's database: its lock, its connections, the writer, and the reader on the event loop.

A write is a value, `Tx`: named statements with their parameters and, where it matters, the number of rows each must touch. Nothing outside
this room sees SQL or a connection.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import trio

from pgs.storage.first_terms import ship
from pgs.storage.migrations import SchemaNewer, migrate
from pgs.storage.queries import QUERIES
from pgs.storage.transactions import (
    BUGS,
    Outcome,
    OutcomeUnknown,
    Params,
    ReadFailed,
    SqlValue,
    Stmt,
    StoreOutage,
    Tx,
    WriteFailed,
    WriterFull,
)
from pgs.storage.writer import Writer

# All that other rooms need to know of this one, its repositories apart.
__all__ = [
    "DataFolderInUse",
    "DataLock",
    "Database",
    "Outcome",
    "OutcomeUnknown",
    "Params",
    "ReadFailed",
    "Reader",
    "SchemaNewer",
    "SqlValue",
    "Stmt",
    "StoreOutage",
    "Tx",
    "WriteFailed",
    "Writer",
    "WriterFull",
    "at_one_moment",
]

P = ParamSpec("P")
T = TypeVar("T")

BUSY_TIMEOUT_S = 5.0  # only a backup ever holds the file besides the writer


class DataFolderInUse(Exception):
    """Another process owns the data folder."""


DATABASE_NAME = "pgs.db"


class DataLock:
    """The data folder's lock: whoever holds it is the one process that may write the database."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, if need be, and take its lock. Raises `DataFolderInUse`."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            if isinstance(error, BlockingIOError):
                raise DataFolderInUse(str(folder)) from None
            raise

    def release(self) -> None:
        """Give the folder back. Doing so twice is no error."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def connect(path: Path, *, query_only: bool = False, factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Return a connection with the settings that this product relies on: WAL, `synchronous=FULL`, no implicit transactions.

    Raises `StoreOutage` when the file cannot be opened, or lies where SQLite can keep no write-ahead log.
    """
    try:
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_S, cached_statements=256, factory=factory
        )
        try:
            (mode,) = connection.execute("pragma journal_mode=wal").fetchone()
            if mode != "wal":
                raise StoreOutage(f"{path}: no write-ahead log, but {mode}")
            connection.execute("pragma synchronous=full")  # money: an acknowledged commit survives a power cut
            if query_only:
                connection.execute("pragma query_only=on")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreOutage(f"{path}: {error}") from error
    return connection


def _is_new(path: Path) -> bool:
    """Return whether there is no database yet. Raises `StoreOutage` for an empty file: SQLite would begin anew in it, and say nothing."""
    try:
        if path.stat().st_size == 0:
            raise StoreOutage(f"{path} is an empty file and no database: put the right one in its place, or remove it to begin a new one")
    except FileNotFoundError:
        return True
    return False


def _create(path: Path) -> None:
    """Make an empty database, its owner's alone. It gets its name once it is one, so that no kill leaves an empty file of that name."""
    part = path.with_name(path.name + ".new")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connect(part).close()  # the change to a write-ahead log writes the file's first page
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise StoreOutage(f"{path} cannot be made: {error.strerror}") from error


class Reader:
    """Reads on the caller's own thread: a look-up by key costs less than a hop to another one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def one(self, name: str, **params: SqlValue) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        row: tuple[Any, ...] | None = self._read(lambda connection: QUERIES[name](connection, **params), name)
        return row

    def all(self, name: str, **params: SqlValue) -> list[tuple[Any, ...]]:
        """Return every row of a query. Raises `ReadFailed`."""
        rows: list[tuple[Any, ...]] = self._read(lambda connection: list(QUERIES[name](connection, **params)), name)
        return rows

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of a block see the database as the first of them does. Await nothing in it. Raises `ReadFailed`."""
        if self._connection.in_transaction:  # within another block
            yield
            return
        self._read(lambda connection: connection.execute("begin"), "snapshot")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # it wrote nothing
                self._connection.execute("rollback")

    def _read(self, read: Callable[[sqlite3.Connection], Any], name: str) -> Any:
        try:
            return read(self._connection)
        except BUGS:
            raise
        except sqlite3.Error as error:
            raise ReadFailed(name, error) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def at_one_moment(read: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[Reader, P], T]:
    """Return `read`, made to see the database as its first query does: on another thread the writer commits between any two."""

    @wraps(read)
    def reading(reader: Reader, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with reader.snapshot():
            return read(reader, *args, **kwargs)

    return reading


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

        `inline`: commit on the event loop's own thread, for tests on a virtual clock, which would run away from a thread. `factory`: what
        connections are made of, for tests that break them. `on_locked` is told, before the file is touched, whether it will be a new one;
        what it raises ends the opening. Raises `DataFolderInUse`, `SchemaNewer` or `StoreOutage`.
        """
        self.folder = folder
        self.path = folder / DATABASE_NAME
        self.inline = inline
        # Bulk reads come once a minute: one at a time, and the file cache is left to the others. Of this database, not of the process:
        # a read that was abandoned at the end of one trio run would hold a shared limit for ever.
        self.bulk_limit = trio.CapacityLimiter(1)
        self.check_limit = trio.CapacityLimiter(1)  # a check of everything may take minutes, which the bulk reads cannot wait
        self._factory = factory
        with ExitStack() as undo:
            self._lock = DataLock(folder)
            undo.callback(self._lock.release)
            is_new = _is_new(self.path)
            on_locked(is_new)
            if is_new:
                _create(self.path)
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
        """Return a reader with a connection of its own, for a thread that reads much at once; its user closes it. Raises `StoreOutage`."""
        return Reader(connect(self.path, query_only=True, factory=self._factory))

    def close(self) -> None:
        """Finish the commits under way, close, and give the folder back; not while a commit hangs: it may still land."""
        self.reader.close()
        if self.writer.close():
            self._lock.release()
