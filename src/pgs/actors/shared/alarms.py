"""Alarms of the open tables: one task and one heap for all of their clocks, where a task each would be made and ended with every move."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import trio

from pgs.actors.messages.table import LookAgain

if TYPE_CHECKING:
    from pgs.actors.partners import PartnerDirectory

FAR_S = 240.0  # a table is woken at least this often: less than an actor may be idle, so that a slow clock does not close it
RING_AGAIN_S = 1.0  # a table that cannot be told now is told again this soon
NEVER = float("inf")

Key = tuple[str, str]  # partner, match


class Alarms:
    """When each open table is to look again, in trio's time. A table that sets it anew moves its alarm."""

    def __init__(self) -> None:
        self._at: dict[Key, float] = {}
        # At most a few entries for each table: a later alarm leaves the earlier entry, which is then put back where it belongs.
        self._heap: list[tuple[float, Key]] = []
        self._queued: dict[Key, float] = {}  # the entry of each table that counts
        self._next = NEVER
        self._changed = trio.Event()

    def set(self, key: Key, at: float) -> None:
        """Wake a table at a time, in place of the one that was set."""
        at = min(at, trio.current_time() + FAR_S)
        self._at[key] = at
        if at < self._queued.get(key, NEVER):
            self._push(key, at)

    def drop(self, key: Key) -> None:
        """Wake a table no more."""
        self._at.pop(key, None)

    def __len__(self) -> int:
        return len(self._at)

    def _push(self, key: Key, at: float) -> None:
        self._queued[key] = at
        heappush(self._heap, (at, key))
        if at < self._next:
            self._changed.set()

    async def run(self, directory: PartnerDirectory) -> None:
        """Wake tables when it is time, for ever."""
        while True:
            self._changed = trio.Event()
            self._next = self._heap[0][0] if self._heap else NEVER
            with trio.move_on_at(self._next):
                await self._changed.wait()
            self._ring(directory, trio.current_time())

    def _ring(self, directory: PartnerDirectory, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            entry, key = heappop(self._heap)
            if self._queued.get(key) != entry:
                continue
            del self._queued[key]
            at = self._at.get(key)
            if at is None:
                continue
            if at > now:
                self._push(key, at)
            else:
                del self._at[key]
                partner_id, match_id = key
                if (
                    not directory.partner(partner_id).table(match_id).tell(LookAgain())
                ):  # its partner rests: somebody may wait for it
                    self.set(key, now + RING_AGAIN_S)
