"""Reads of very many rows, off the event loop."""

from collections.abc import Callable
from typing import TypeVar

import trio

from pgs.storage.database import Database
from pgs.storage.reader import Reader

T = TypeVar("T")


async def read_in_bulk(
    database: Database, work: Callable[[Reader], T], limiter: trio.CapacityLimiter | None = None
) -> T:
    """Return what `work` reads, on a thread with a connection of its own; in the in-line mode, where it is called.

    `limiter` is for readings so long that the minute's must not wait for them.
    """
    if database.inline:
        return work(database.reader)
    # Abandoned when the service stops: a disk that hangs must not hold up the stop, and a read leaves nothing behind.
    return await trio.to_thread.run_sync(
        _read, database, work, limiter=limiter or database.bulk_limit, abandon_on_cancel=True
    )


def _read(database: Database, work: Callable[[Reader], T]) -> T:
    reader = database.second_reader()
    try:
        return work(reader)
    finally:
        reader.close()
