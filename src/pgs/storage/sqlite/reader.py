"""Reads SQLite on the caller's thread, without ever suspending.

A look-up by key costs less than a change of threads.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from pgs.storage.queries import STATEMENTS, Positional
from pgs.storage.reader import Query, RepeatingReader, Row
from pgs.storage.sqlite_driver import BUGS, FAULTS, Connection
from pgs.storage.transactions import Params, ReadFailed, SqlValue

Fetch = Callable[[Connection, Positional, Params], Any]


class SqliteReader(RepeatingReader):
    """Reads over one connection, on the caller's thread."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    async def one(self, name: str, **params: SqlValue) -> Row | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        row: Row | None = self._read(name, _first_row, STATEMENTS[name], params)
        return row

    async def all(self, name: str, **params: SqlValue) -> list[Row]:
        """Return every row of a query. Raises `ReadFailed`."""
        return self._rows(name, params)

    async def together(self, *queries: Query) -> list[list[Row]]:
        """Return the rows of each query, all as of the same moment. Raises `ReadFailed`.

        Between two separate reads, the writer may commit.
        """
        async with self.one_moment():
            return [self._rows(query.name, query.params) for query in queries]

    @asynccontextmanager
    async def one_moment(self) -> AsyncIterator[None]:
        """Make all reads of a block see the data of one moment. Raises `ReadFailed`."""
        try:
            self._connection.execute("begin")
        except BUGS:
            raise
        except FAULTS as error:
            raise ReadFailed("reader.begin", error) from error
        try:
            yield
        finally:
            with suppress(*FAULTS):  # nothing was written
                self._connection.execute("rollback")

    def _rows(self, name: str, params: Params) -> list[Row]:
        statement = STATEMENTS[name]
        if statement.one_row:
            row = self._read(name, _first_row, statement, params)
            return [] if row is None else [row]
        rows: list[Row] = self._read(name, _every_row, statement, params)
        return rows

    def _read(self, name: str, fetch: Fetch, statement: Positional, params: Params) -> Any:
        try:
            return fetch(self._connection, statement, params)
        except BUGS:
            raise
        except FAULTS as error:
            self._failed = Query(name, params)
            raise ReadFailed(name, error) from error

    def close(self) -> None:
        self._connection.close()


def _first_row(connection: Connection, statement: Positional, params: Params) -> Any:
    return connection.execute(statement.text, statement.values(params)).fetchone()


def _every_row(connection: Connection, statement: Positional, params: Params) -> Any:
    return connection.execute(statement.text, statement.values(params)).fetchall()
