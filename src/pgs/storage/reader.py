"""Reads of the database, on the caller's own thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from pgs.storage.queries import QUERIES
from pgs.storage.transactions import BUGS, ReadFailed, SqlValue

P = ParamSpec("P")
T = TypeVar("T")


class Reader:
    """Reads on the caller's own thread: a look-up by key costs less than a hop to another one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def one(self, name: str, **params: SqlValue) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        row: tuple[Any, ...] | None = self._read(
            lambda connection: QUERIES[name](connection, **params), name
        )
        return row

    def all(self, name: str, **params: SqlValue) -> list[tuple[Any, ...]]:
        """Return every row of a query. Raises `ReadFailed`."""
        rows: list[tuple[Any, ...]] = self._read(
            lambda connection: list(QUERIES[name](connection, **params)), name
        )
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
