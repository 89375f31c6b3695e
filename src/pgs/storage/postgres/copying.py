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

from pgs.storage.bulk import finish
from pgs.storage.copy_record import Copied
from pgs.storage.data_folder import BadSource, DataLock
from pgs.storage.database_mark import Mark, write_mark
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
from pgs.storage.sqlite_driver import FAULTS
from pgs.storage.sqlite_driver import Connection as File
from pgs.storage.transactions import StoreOutage

BATCH: Final = 1000
"""Rows that are in memory at the same time: about a megabyte of the widest table."""

SESSION: Final = "pgs db copy"

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

    In the folder, only the schema is brought up to date. After a failure to copy, the database of
    PostgreSQL is empty. Raises `BadSource`, `DataFolderInUse`, `DatabaseInUse`, `DataRefused`,
    `SchemaNewer` and `StoreOutage`.
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


def from_server(url: str, folder: Path) -> Copied:
    """Copy a database of PostgreSQL into a new data folder, and compare both.

    The key ring is not copied. After a failure to copy, the folder has no database. Raises
    `BadSource`, `DataFolderInUse`, `DatabaseInUse`, `SchemaNewer` and `StoreOutage`.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadSource(f"{folder} is not empty: a database goes into a folder of its own")
    path = folder / DATABASE_NAME
    with _translated(), ExitStack() as stack:
        session = WriterSession(url, SESSION, 1)
        stack.callback(session.end)
        if not has_schema(session.connection):
            raise BadSource("the database to copy from is empty")
        migrate(session.connection)
        identity = DatabaseIdentity.of(session.connection)
        if identity.is_copy:
            raise BadSource("the database was restored: start the service on it once, then copy it")
        number = identity.number
        lock = DataLock(folder)
        stack.callback(lock.release)
        part = path.with_name(path.name + ".part")
        create_database(part)
        try:
            target = connect(part)
            with closing(target), psycopg.connect(url, application_name=SESSION) as source:
                source.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                migrate_sqlite(target)
                copied = _fill_file(source, target)
                finish(_prove(SqliteReader(target)))
                target.execute(f"pragma application_id={number}")
                commits = commits_in(target)
                target.execute("pragma journal_mode=delete")  # keep all in one file, without a log
            part.rename(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        write_mark(folder, Mark("closed", number, commits))
        return copied


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
