"""The interface of a reader: named queries, as coroutines, since they may cross a network."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from pgs.storage.transactions import Params, SqlValue, StoreOutage

Row = tuple[Any, ...]


class Query(msgspec.Struct, frozen=True):
    """A named query with its parameters, as a value."""

    name: str
    params: Params = {}


class Reader(Protocol):
    """Reads the database by named queries."""

    async def one(self, name: str, **params: SqlValue) -> Row | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""

    async def all(self, name: str, **params: SqlValue) -> list[Row]:
        """Return every row of a query. Raises `ReadFailed`."""

    async def together(self, *queries: Query) -> list[list[Row]]:
        """Return the rows of each query, all as of the same moment. Raises `ReadFailed`.

        Between two separate reads, the writer may commit.
        """

    def one_moment(self) -> AbstractAsyncContextManager[None]:
        """Make all reads of a block see the data of one moment. Raises `ReadFailed`.

        It is for a reader that one task uses alone, such as that of a bulk read.
        """

    async def still_fails(self) -> bool:
        """Return whether the last failed read fails again."""

    def close(self) -> None: ...


class RepeatingReader(Reader):
    """A reader that remembers its last failed read, and repeats it for `still_fails`."""

    def __init__(self) -> None:
        self._failed: Query | None = None

    async def still_fails(self) -> bool:
        """Return whether the last failed read fails again."""
        if self._failed is not None:
            try:
                await self.all(self._failed.name, **self._failed.params)
            except StoreOutage:
                return True
            self._failed = None
        return False
