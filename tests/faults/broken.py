"""Parts of a running service that a test breaks for a block."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trio

from pgs.actors.core import Core
from pgs.storage.transactions import Outcome, Params, ReadFailed, Tx, WriteFailed
from pgs.storage.writer import Writer


@contextmanager
def reads_fail(core: Core, *queries: str) -> Iterator[None]:
    """Let the named queries, or all of them, fail on the event loop's reader, as a disk would."""
    reader = core.parts.database.reader
    read = reader._read

    def broken(name: str, work: Callable[..., Any], params: Params) -> Any:
        if not queries or name in queries:
            raise ReadFailed(name, sqlite3.OperationalError("disk I/O error"))
        return read(name, work, params)

    vars(reader)["_read"] = broken
    try:
        yield
    finally:
        del vars(reader)["_read"]


class _Writer:
    """Stands before the real writer, and is it in everything that it does not change."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


class HeldWriter(_Writer):
    """Lets nothing through before `released`. `held` counts what waits."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self.released = trio.Event()
        self.held = 0

    async def submit(self, tx: Tx) -> Outcome:
        """Commit, once released."""
        self.held += 1
        await self.released.wait()
        return await self._writer.submit(tx)


class FailingWriter(_Writer):
    """Refuses every transaction with `error`, and does nothing of it."""

    def __init__(self, writer: Writer, error: type[Exception] = WriteFailed) -> None:
        super().__init__(writer)
        self._error = error

    async def submit(self, tx: Tx) -> Outcome:
        """Raise the error."""
        await trio.lowlevel.checkpoint()
        raise self._error("a test said so")


@contextmanager
def writer_of(core: Core, writer: Any) -> Iterator[None]:
    """Put another writer in the database's place of it."""
    database = core.parts.database
    real = database.writer
    vars(database)["writer"] = writer
    try:
        yield
    finally:
        vars(database)["writer"] = real
