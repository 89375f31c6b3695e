"""The interface of the database for the rest of the service, the same for both engines.

Nothing outside this package sees SQL or a connection.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import trio

from pgs.storage.reader import Reader
from pgs.storage.writer import Writer

SINCE_MAX: Final = 1
"""Reads for the parameter `since` that may run side by side. Such a read looks up the position that
a feed had at a past time. Digests have a separate bound: each digest may read for a second, and a
partner that reads its feed must not wait for digests."""


class Database(Protocol):
    """An open database. `pgs.storage.engines` opens one.

    `inline`: it reads and commits on the event loop's thread. That is for tests, whose virtual
    clock does not wait for other threads.
    The limits say how many reads of one kind run at the same time: `bulk_limit` for bulk reads,
    `check_limit` for checks of everything, `digest_limit` for digests, and `since_limit` for
    look-ups of a feed's position at a past time.
    """

    inline: bool
    bulk_limit: trio.CapacityLimiter
    check_limit: trio.CapacityLimiter
    digest_limit: trio.CapacityLimiter
    since_limit: trio.CapacityLimiter
    reader: Reader
    writer: Writer

    def start(self) -> None:
        """Start the writer; call it inside the trio run."""

    async def wait_for_changes(self) -> None:
        """Return when other nodes may have changed accounts, tiers or terms.

        With SQLite it never returns, because only one process can write the database.
        """

    def lost(self) -> str | None:
        """Return which part of the database was lost, and what to do; None if nothing was lost."""

    def second_reader(self) -> Reader:
        """Return a reader with another connection, for a bulk read; the caller closes it.

        Its reads never suspend: they block their thread. Raises `StoreOutage`.
        """

    def take_over(self, now: int) -> bool:
        """Advance every feed's head if this is the first start on a copy; return whether it is.

        Call it before `start`. `now` is in epoch seconds. Raises `StoreOutage`.
        """

    def migrations(self) -> list[str]:
        """Return the names of the migrations applied, in order. Raises `StoreOutage`."""

    def faults(self) -> list[str]:
        """Return the faults of pages, indexes and constraints; none if all are sound.

        With PostgreSQL, these are only the faults that its server has noticed. The call blocks the
        caller's thread, perhaps for minutes. Raises `StoreOutage`.
        """

    def all_faults(self) -> list[str]:
        """Return the faults of pages, indexes and ledgers; none if all is sound.

        It blocks the caller's thread, and pauses often, so that other threads can work. Raises
        `StoreOutage`.
        """

    def back_up(self, folder: Path, copy_keys: Callable[[Path], None]) -> Path:
        """Return the path of a checked copy in `folder`, as of one moment.

        `copy_keys` writes the key ring to the path that it is given, after the copy. The call
        blocks the caller's thread. Raises `BadTarget` and `StoreOutage`.
        """

    def close(self) -> None:
        """Finish the commits under way, close, and release the data folder."""
