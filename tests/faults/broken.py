"""Breaks parts of a running service for a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import apsw
import trio

from pgs.actors.core import Core
from pgs.storage.reader import Query, Row
from pgs.storage.transactions import Outcome, ReadFailed, SqlValue, Tx, WriteFailed
from pgs.storage.writer import Writer


@contextmanager
def reads_fail(core: Core, *queries: str) -> Iterator[None]:
    """Make the named queries, or all of them, fail on the event loop's reader as a disk would."""
    reader = core.parts.database.reader

    def check(*names: str) -> None:
        for name in names:
            if not queries or name in queries:
                raise ReadFailed(name, apsw.IOError("disk I/O error"))

    async def one(name: str, **params: SqlValue) -> Row | None:
        check(name)
        return await type(reader).one(reader, name, **params)

    async def read_all(name: str, **params: SqlValue) -> list[Row]:
        check(name)
        return await type(reader).all(reader, name, **params)

    async def together(*asked: Query) -> list[list[Row]]:
        check(*(query.name for query in asked))
        return await type(reader).together(reader, *asked)

    with patch.multiple(reader, one=one, all=read_all, together=together):
        yield


class _Writer:
    """Passes on to the real writer everything that a subclass does not change."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


class HeldWriter(_Writer):
    """Holds every transaction until `released` is set. `held` counts the submitted ones."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self.released = trio.Event()
        self.held = 0

    async def submit(self, tx: Tx) -> Outcome:
        """Wait for `released`, then submit to the real writer."""
        self.held += 1
        await self.released.wait()
        return await self._writer.submit(tx)


class FailingWriter(_Writer):
    """Refuses every transaction with `error`, and commits nothing."""

    def __init__(self, writer: Writer, error: type[Exception] = WriteFailed) -> None:
        super().__init__(writer)
        self._error = error

    async def submit(self, tx: Tx) -> Outcome:
        """Raise the error."""
        await trio.lowlevel.checkpoint()
        raise self._error("a test said so")


@contextmanager
def writer_of(core: Core, writer: Any) -> Iterator[None]:
    """Replace the database's writer for a block."""
    database = core.parts.database
    real = database.writer
    vars(database)["writer"] = writer
    try:
        yield
    finally:
        vars(database)["writer"] = real
