"""Reads of very many rows, off the event loop."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import trio

from pgs.storage.database import Database
from pgs.storage.reader import Reader

T = TypeVar("T")

BulkRead = Callable[[Reader], Coroutine[Any, Any, T]]


async def read_in_bulk(
    database: Database, work: BulkRead[T], limiter: trio.CapacityLimiter | None = None
) -> T:
    """Return what `work` reads, on a thread with a connection of its own.

    In the in-line mode it reads where it is called. `limiter` is for a read so long that the
    minute's bulk reads must not wait for it.
    """
    if database.inline:
        return await work(database.reader)
    # Abandoned when the service stops: a disk that hangs must not hold up the stop, and a read
    # leaves nothing behind.
    return await trio.to_thread.run_sync(
        _read, database, work, limiter=limiter or database.bulk_limit, abandon_on_cancel=True
    )


def _read(database: Database, work: BulkRead[T]) -> T:
    reader = database.second_reader()
    try:
        return _finish(work(reader))
    finally:
        reader.close()


def _finish(read: Coroutine[Any, Any, T]) -> T:
    """Run a read to its end on this thread, which has no event loop.

    That works because a read of SQLite never suspends: the first step is the last one.
    """
    try:
        read.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    read.close()
    raise RuntimeError("a bulk read waited for something other than the database")
