"""The alarms of open tables: one heap for the clocks of all matches, instead of a task for each."""

from collections.abc import Callable
from heapq import heappop, heappush

import trio

FAR_S = 240.0
"""Seconds between two wake-ups of a table, at most.

Less than `IDLE_CLOSE_S`, so that a table whose next check is far away is not closed.
"""

NEVER = float("inf")

Key = tuple[str, str]  # partner id, match id


class Alarms:
    """When each open table must check its clock again, in trio's time. A table has one alarm."""

    def __init__(self) -> None:
        self._at: dict[Key, float] = {}
        # Moving an alarm to a later time adds no entry to the heap, so a table has few entries. The
        # old entry stays. When the old entry is due, the table is queued again for the later time.
        self._heap: list[tuple[float, Key]] = []
        self._queued: dict[Key, float] = {}  # the one valid heap entry of each table
        self._next = NEVER
        self._changed = trio.Event()

    def set(self, key: Key, at: float) -> None:
        """Set a table's alarm, replacing the one that was set."""
        at = min(at, trio.current_time() + FAR_S)
        self._at[key] = at
        if at < self._queued.get(key, NEVER):
            self._push(key, at)

    def drop(self, key: Key) -> None:
        """Remove a table's alarm."""
        self._at.pop(key, None)

    def forget(self, belongs: Callable[[str], bool]) -> None:
        """Remove the alarms of these partners."""
        for key in [key for key in self._at if belongs(key[0])]:
            del self._at[key]

    def __len__(self) -> int:
        return len(self._at)

    async def wait(self) -> None:
        """Return once a heap entry is due. The alarm of its table may have moved since."""
        await trio.lowlevel.checkpoint()
        while True:
            self._changed = trio.Event()
            self._next = self._heap[0][0] if self._heap else NEVER
            if self._next <= trio.current_time():
                return
            with trio.move_on_at(self._next):
                await self._changed.wait()

    def find_due(self, now: float) -> Key | None:
        """Return a table whose alarm is due, or None.

        The alarm stays due until it is set again or dropped.
        """
        while self._heap and self._heap[0][0] <= now:
            entry, key = self._heap[0]
            at = self._at.get(key)
            if self._queued.get(key) == entry and at is not None and at <= now:
                return key
            heappop(self._heap)
            if self._queued.get(key) == entry:
                del self._queued[key]
                if at is not None:
                    self._push(key, at)
        return None

    def _push(self, key: Key, at: float) -> None:
        self._queued[key] = at
        heappush(self._heap, (at, key))
        if at < self._next:
            self._changed.set()
