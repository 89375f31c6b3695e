"""Reads SQLite on the caller's thread, without ever suspending.

A look-up by key costs less than a change of threads.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from pgs.storage.queries import STATEMENTS
from pgs.storage.reader import Query, RepeatingReader, Row
from pgs.storage.sqlite_driver import BUGS, FAULTS, Connection, is_bug
from pgs.storage.transactions import Params, ReadFailed, SqlValue


class SqliteReader(RepeatingReader):
    """Reads over one connection, on the caller's thread."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        # One cursor is kept, because `Connection.execute` makes a new one for each read. Each read
        # fetches every row: otherwise its statement would stay open, and later reads would see the
        # data of that moment.
        self._cursor = connection.cursor()

    async def one(self, name: str, **params: SqlValue) -> Row | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        rows = self._read(name, params)
        return rows[0] if rows else None

    async def all(self, name: str, **params: SqlValue) -> list[Row]:
        """Return every row of a query. Raises `ReadFailed`."""
        return self._read(name, params)

    async def together(self, *queries: Query) -> list[list[Row]]:
        """Return the rows of each query, all as of the same moment. Raises `ReadFailed`.

        Between two separate reads, the writer may commit.
        """
        async with self.one_moment():
            return [self._read(query.name, query.params) for query in queries]

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

    def _read(self, name: str, params: Params) -> list[Row]:
        statement = STATEMENTS[name]
        try:
            rows: list[Row] = self._cursor.execute(
                statement.text, statement.values(params)
            ).fetchall()
        except Exception as error:
            # The old cursor may have stopped between two rows, and is closed as it is dropped.
            self._cursor = self._connection.cursor()
            if is_bug(error):
                raise
            self._failed = Query(name, params)
            raise ReadFailed(name, error) from error
        return rows

    def close(self) -> None:
        self._connection.close()
