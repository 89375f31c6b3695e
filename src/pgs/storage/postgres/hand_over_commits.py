"""Joins hand-overs of shards: one commit for all shards that are ready at the same time.

`pgs.storage.postgres.shard_keeper` ends all writes for a shard, and then calls `give`.
"""

from __future__ import annotations

import trio

from pgs.storage.postgres import lease
from pgs.storage.postgres.lease import WriterLine
from pgs.storage.postgres.session import WritingSession


class _Together:
    """Shards that are handed over with one commit."""

    def __init__(self) -> None:
        self.shards: list[int] = []
        self.ended = trio.Event()


class HandOverCommits:
    """The commits by which one session hands shards over.

    `number`: the session's number in the table of nodes.
    """

    def __init__(self, line: WriterLine, session: WritingSession, name: str, number: int) -> None:
        self._line = line
        self._session = session
        self._name = name
        self._number = number
        self._next = _Together()
        self._idle = trio.Event()  # set while no hand-over is under way
        self._idle.set()

    async def give(self, shard: int) -> None:
        """Hand over a shard for which nothing is written any more; return once it is unlocked.

        Raises `StoreOutage` and `StatementRefused`, but only in one of the calls whose shards
        share a commit. The other calls return, and their callers see that the session is lost.
        """
        together = self._next
        together.shards.append(shard)
        if len(together.shards) > 1:
            await together.ended.wait()
            return
        await self._idle.wait()
        self._next, self._idle = _Together(), trio.Event()
        name, number, shards = self._name, self._number, together.shards
        try:
            await self._line.run(
                self._session, lambda held: lease.hand_over(held, name, number, shards)
            )
        finally:
            self._idle.set()
            together.ended.set()
