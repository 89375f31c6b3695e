"""Copies a whole database from one engine to the other, row by row, and compares both.

Nothing is renumbered: heads, feed positions, sealed secrets and the count of commits stay, so that
cursors, keys and the data folder's mark stay valid. No service may use either database
meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import msgspec
import psycopg

from pgs.config import KEY_FILE_NAME
from pgs.storage.bulk import finish
from pgs.storage.copy_record import Copied
from pgs.storage.data_folder import LOCK_NAME, BadSource, DataLock
from pgs.storage.database_mark import MARK_NAME, Mark, sync_folder, write_mark
from pgs.storage.ledger import check_ledger
from pgs.storage.migrations import migrate as migrate_sqlite
from pgs.storage.postgres.blocking_reader import BlockingReader
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.identity import DatabaseIdentity
from pgs.storage.postgres.migrating import has_schema, migrate
from pgs.storage.postgres.session import WriterSession
from pgs.storage.reader import Reader
from pgs.storage.sqlite.connections import DATABASE_NAME, connect, create_database, is_copy
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite.identity import commits_in, header_number
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite.restore import copy_file
from pgs.storage.sqlite_driver import FAULTS
from pgs.storage.sqlite_driver import Connection as File
from pgs.storage.transactions import StoreOutage

BATCH: Final = 1000
"""Rows that are in memory at the same time while a database is copied: about a megabyte of the
widest table."""

SESSION: Final = "pgs db copy"

_PART: Final = DATABASE_NAME + ".part"

# What a copy into a folder writes before the database gets its final name.
_BESIDE: Final = (
    KEY_FILE_NAME,
    KEY_FILE_NAME + ".new",
    MARK_NAME,
    MARK_NAME + ".new",
)

_TABLES = (
    "select name from sqlite_master where type = 'table' and name <> 'migration' order by name"
)
_COLUMNS = "select name, pk from pragma_table_info(?)"
_TABLES_THERE = "select quote_ident(tablename) from pg_tables where schemaname = current_schema()"


class _Table(msgspec.Struct, frozen=True):
    """A table, its columns, and the columns of its key in order. No caller chooses the names."""

    name: str
    columns: str
    key: str
    width: int

    @property
    def read(self) -> str:
        """The query for all rows in the order of the key."""
        return f"select {self.columns} from {self.name} order by {self.key}"  # noqa: S608 - ours


def to_server(folder: Path, url: str) -> Copied:
    """Copy the database of a data folder into an empty database of PostgreSQL, and compare both.

    Opening the folder's database updates its schema, its count of commits and the mark. Nothing
    else in the folder changes. A copy that fails empties the database of PostgreSQL again. A copy
    that is killed or loses its session may leave tables there, and the next copy is refused.
    Raises `BadSource`, `DataFolderInUse`, `DatabaseInUse`, `DataRefused`, `SchemaNewer` and
    `StoreOutage`.
    """
    if not (folder / DATABASE_NAME).is_file():
        raise BadSource(f"there is no database in {folder}")
    SqliteDatabase(folder, inline=True).close()  # checks the files, and updates the schema
    with _translated(), ExitStack() as stack:
        lock = DataLock(folder)
        stack.callback(lock.release)
        source = stack.enter_context(closing(connect(folder / DATABASE_NAME, query_only=True)))
        if is_copy(source):
            raise BadSource(f"{folder} was restored: start the service on it once, then copy it")
        session = WriterSession(url, SESSION, 1)
        stack.callback(session.end)
        if session.connection.command(_TABLES_THERE):
            raise BadSource("the database to copy to is not empty: name a new one")
        migrate(session.connection)
        number = header_number(folder / DATABASE_NAME)
        try:
            with psycopg.connect(url, application_name=SESSION) as target:
                copied = _fill_server(source, target)
                _store_number(target, number)
            finish(_prove(BlockingReader(session.connection, lambda connection: None)))
        except BaseException:
            _empty(session.connection)
            raise
        return copied


def from_server(url: str, folder: Path, key_file: Path) -> Copied:
    """Copy a database of PostgreSQL and the key ring into a new data folder, and compare both.

    The folder may hold what a failed or killed copy left there. The database gets its final name
    last, when its mark and the key ring are on disk; after a failure none of the three is there.
    Raises `BadSource`, `DataFolderInUse`, `DatabaseInUse`, `SchemaNewer` and `StoreOutage`.
    """
    _check_free(folder)
    with _translated(), ExitStack() as stack:
        session = WriterSession(url, SESSION, 1)
        stack.callback(session.end)
        if not has_schema(session.connection):
            raise BadSource("the database to copy from is empty")
        migrate(session.connection)
        identity = DatabaseIdentity.of(session.connection)
        if identity.is_copy:
            raise BadSource("the database was restored: start the service on it once, then copy it")
        lock = DataLock(folder)
        stack.callback(lock.release)
        _check_free(folder)  # another copy may have ended meanwhile
        _discard(folder)
        part = folder / _PART
        create_database(part)
        try:
            copied, commits = _fill_part(part, url, identity.number)
            copy_file(key_file, folder / KEY_FILE_NAME)
            write_mark(folder, Mark("closed", identity.number, commits))
            part.rename(folder / DATABASE_NAME)
            sync_folder(folder)
        except BaseException:
            (folder / DATABASE_NAME).unlink(missing_ok=True)
            _discard(folder)
            raise
        return copied


def _fill_part(part: Path, url: str, number: int) -> tuple[Copied, int]:
    """Fill an empty file of SQLite; return what was copied, and how many commits it holds."""
    with (
        closing(connect(part)) as target,
        psycopg.connect(url, application_name=SESSION) as source,
    ):
        source.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        migrate_sqlite(target)
        copied = _fill_file(source, target)
        finish(_prove(SqliteReader(target)))
        target.execute(f"pragma application_id={number}")
        commits = commits_in(target)
        target.execute("pragma journal_mode=delete")  # keep all in one file, without a log
    return copied, commits


def _check_free(folder: Path) -> None:
    """Raise `BadSource` if a folder holds more than what an unfinished copy leaves there."""
    found = {path.name for path in folder.iterdir()} if folder.exists() else set()
    parts = {name for name in found if name.startswith(_PART)}
    left = parts.union(_BESIDE if parts else ()) | {LOCK_NAME}
    if not found <= left:
        raise BadSource(f"{folder} is not empty: a database goes into a folder of its own")


def _discard(folder: Path) -> None:
    """Remove what an unfinished copy leaves in a folder, except the lock."""
    for path in [*folder.glob(_PART + "*"), *(folder / name for name in _BESIDE)]:
        path.unlink(missing_ok=True)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn errors of both engines into `StoreOutage`."""
    try:
        yield
    except (*FAULTS, psycopg.Error, StatementRefused, OSError) as error:
        raise StoreOutage(f"the copy failed: {error}") from error


def _tables_of(connection: File) -> list[_Table]:
    tables = []
    names: Any = connection.execute(_TABLES).fetchall()
    for (name,) in names:
        columns: Any = connection.execute(_COLUMNS, (name,)).fetchall()
        key = sorted((place, column) for column, place in columns if place)
        tables.append(
            _Table(
                name,
                ", ".join(column for column, _ in columns),
                ", ".join(column for _, column in key),
                len(columns),
            )
        )
    return tables


def _fill_server(source: File, target: psycopg.Connection[Any]) -> Copied:
    tables = _tables_of(source)
    rows = 0
    for table in tables:
        target.execute(f"delete from {table.name}".encode())  # noqa: S608 - our own names
        with target.cursor() as cursor:
            command = f"copy {table.name} ({table.columns}) from stdin"
            with cursor.copy(command.encode()) as copy:
                for row in source.execute(table.read):
                    copy.write_row(row)
                    rows += 1
        _compare(table, source.execute(table.read), _streamed(target, table))
    # The next row of the ledger gets the number after those of the copied rows.
    target.execute(
        "select setval(pg_get_serial_sequence('ledger', 'row_id'), max(row_id)) from ledger"
    )
    return Copied(len(tables), rows)


def _fill_file(source: psycopg.Connection[Any], target: File) -> Copied:
    tables = _tables_of(target)
    rows = 0
    target.execute("begin immediate")
    for table in tables:
        target.execute(f"delete from {table.name}")  # noqa: S608 - our own names
        places = ", ".join("?" * table.width)
        # No caller chooses these names either.
        insert = f"insert into {table.name} ({table.columns}) values ({places})"  # noqa: S608
        for row in _streamed(source, table):
            target.execute(insert, row)
            rows += 1
        _compare(table, target.execute(table.read), _streamed(source, table))
    target.execute("commit")
    return Copied(len(tables), rows)


def _streamed(connection: psycopg.Connection[Any], table: _Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table in the order of its key, with few of them in memory."""
    with connection.cursor(name="copying") as cursor:
        cursor.itersize = BATCH
        cursor.execute(table.read.encode())
        yield from cursor


def _compare(
    table: _Table, ours: Iterator[tuple[Any, ...]], theirs: Iterator[tuple[Any, ...]]
) -> None:
    for one, other in zip_longest(ours, theirs):
        if one != other:
            raise StoreOutage(f"the copy differs in {table.name}")


def _store_number(target: psycopg.Connection[Any], number: int) -> None:
    """Store the database's number, which the mark of the data folder holds."""
    target.execute("delete from heartbeat where name in ('database', 'server')")
    target.execute("insert into heartbeat (name, beats) values ('database', %s)", (number,))


def _empty(connection: Connection) -> None:
    """Drop every table, so that the next try finds an empty database."""
    for (name,) in connection.command(_TABLES_THERE):
        connection.command(f"drop table {name}")


async def _prove(reader: Reader) -> None:
    report = await check_ledger(reader)
    if not report.sound:
        raise StoreOutage(f"the copied ledger is not sound: {report.faults()[0]}")
