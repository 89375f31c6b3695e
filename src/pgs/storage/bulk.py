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
    """Return what `work` reads, on a separate thread with a separate connection.

    If the database is `inline`, `work` runs on the caller's thread. Give a read a separate
    `limiter` if it takes so long that other bulk reads must not wait for it.
    """
    if database.inline:
        return await work(database.reader)
    # The thread is abandoned when the service stops: a disk that hangs must not delay the stop, and
    # a read changes nothing.
    return await trio.to_thread.run_sync(
        _read, database, work, limiter=limiter or database.bulk_limit, abandon_on_cancel=True
    )


def _read(database: Database, work: BulkRead[T]) -> T:
    reader = database.second_reader()
    try:
        return finish(work(reader))
    finally:
        reader.close()


def finish(read: Coroutine[Any, Any, T]) -> T:
    """Return the result of a read, after running it to its end on this thread.

    The thread has no event loop, so the reader must be one whose reads never suspend. One step then
    carries out the whole read.
    """
    try:
        read.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    read.close()
    raise RuntimeError("a bulk read waited for something other than the database")
