"""Reads PostgreSQL query by query, on the caller's thread."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from pgs.storage.postgres.connection import Connection, Lost, StatementRefused
from pgs.storage.postgres.statements import PLAIN, sought
from pgs.storage.queries import STATEMENTS
from pgs.storage.reader import Query, RepeatingReader, Row
from pgs.storage.transactions import Params, ReadFailed, SqlValue

_ONE_MOMENT: Final = "begin isolation level repeatable read read only"


class BlockingReader(RepeatingReader):
    """A reader with one connection, whose reads block the caller's thread and never suspend."""

    def __init__(self, connection: Connection, give_back: Callable[[Connection], None]) -> None:
        """`give_back` takes the connection when the reader is closed."""
        super().__init__()
        self._connection = connection
        self._give_back = give_back

    async def one(self, name: str, **params: SqlValue) -> Row | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        rows = self._read(name, params)
        return rows[0] if rows else None

    async def all(self, name: str, **params: SqlValue) -> list[Row]:
        """Return every row of a query. Raises `ReadFailed`."""
        return self._read(name, params)

    async def together(self, *queries: Query) -> list[list[Row]]:
        """Return the rows of each query, all as of the same moment. Raises `ReadFailed`."""
        async with self.one_moment():
            return [shown(query.name, self._read(query.name, query.params)) for query in queries]

    @asynccontextmanager
    async def one_moment(self) -> AsyncIterator[None]:
        """Make all reads of a block see the data of one moment. Raises `ReadFailed`."""
        try:
            self._connection.command(_ONE_MOMENT)
        except (Lost, StatementRefused) as error:
            raise ReadFailed("reader.begin", error) from error
        try:
            yield
        finally:
            with suppress(Lost, StatementRefused):  # nothing was written
                self._connection.command("rollback")

    def _read(self, name: str, params: Params) -> list[Row]:
        values = sought(name, params)
        try:
            return self._connection.read(PLAIN[name], values)
        except (Lost, StatementRefused) as error:
            if isinstance(error, StatementRefused) and not error.is_fault:
                raise
            self._failed = Query(name, params)
            raise ReadFailed(name, error) from error

    def close(self) -> None:
        """Give the connection back."""
        self._give_back(self._connection)


def shown(name: str, rows: list[Row]) -> list[Row]:
    """Return the rows of a query, or only the first row if the query is for one row."""
    return rows[:1] if STATEMENTS[name].one_row else rows
