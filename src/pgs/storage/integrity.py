"""Checks of the whole database, off the event loop."""

import trio

from pgs.storage.database import Database

# One at a time: a check reads everything.
_LIMITER = trio.CapacityLimiter(1)


async def check_integrity(database: Database) -> list[str]:
    """Return the faults of the database's pages, indexes and constraints; none if it is sound.

    With PostgreSQL, these are only the faults that its server has noticed. The check runs on a
    separate thread (on the caller's thread if the database is `inline`). Raises `StoreOutage` if
    the database cannot be opened.
    """
    if database.inline:
        return database.faults()
    return await trio.to_thread.run_sync(database.faults, limiter=_LIMITER)


async def check_everything(database: Database) -> list[str]:
    """Return the faults of pages, indexes and ledgers; none if all is sound.

    The daily check calls it. It runs on a separate thread (on the caller's thread if the database
    is `inline`), and pauses often. Raises `StoreOutage` if the database cannot be read.
    """
    if database.inline:
        return database.all_faults()
    return await trio.to_thread.run_sync(
        database.all_faults, limiter=database.check_limit, abandon_on_cancel=True
    )
