"""Copies the database while it is in use, off the event loop."""

from collections.abc import Callable
from pathlib import Path

import trio

from pgs.storage.database import Database

_LIMITER = trio.CapacityLimiter(1)  # one at a time: a copy reads everything


class BadTarget(Exception):
    """A backup cannot be written into a folder; the message says why. Nothing was written."""


def _write_no_keys(path: Path) -> None:
    """Do nothing, for a copy without keys."""


async def back_up(
    database: Database, folder: Path, copy_keys: Callable[[Path], None] = _write_no_keys
) -> Path:
    """Return the path of a checked copy of the database, as of one moment, in `folder`.

    `copy_keys` writes the key ring after the copy, so that the ring holds every key that seals
    something in the copy. The copy runs on a separate thread (on the caller's if the database is
    `inline`). Raises `BadTarget` and `StoreOutage`.
    """
    if database.inline:
        return database.back_up(folder, copy_keys)
    return await trio.to_thread.run_sync(database.back_up, folder, copy_keys, limiter=_LIMITER)
