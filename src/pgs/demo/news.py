"""What a partner's backend hears, in the order in which it comes: nudges, and the feed's rows."""

from collections import deque
from typing import Any, Final

import msgspec
import trio

from pgs.demo.backend import CALL_FAILED, Backend
from pgs.demo.inbox import Received

KEPT_MAX: Final = 400
"""Entries that a page which is opened later still gets. Older ones are dropped."""

POLL_S: Final = 20
"""Seconds that the demo's backend lets the feed hold its call: less than the 25 that the service
allows."""

_AGAIN_S: Final = 1.0
"""Seconds until the demo's backend polls again after a failure, so that a fault does not fill the
terminal."""


class News:
    """A log that pages read on from where they are. Entries are numbered from 1."""

    def __init__(self) -> None:
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT_MAX)
        self._last = 0
        self._more = trio.Event()

    def nudge(self, received: Received) -> None:
        """Add a call to the webhook."""
        self._add({"nudge": {"arrivedAtMs": received.arrived_ms, "problem": received.problem}})

    def row(self, row: dict[str, Any]) -> None:
        """Add a row of the feed as it now is."""
        self._add({"row": row})

    async def after(self, number: int, wait_s: float) -> tuple[list[dict[str, Any]], int]:
        """Return the entries after that one, and the number to go on from; wait for some where there are none yet."""
        if number > self._last:
            number = 0  # of an earlier run
        with trio.move_on_after(wait_s):
            while number >= self._last:
                await self._more.wait()
        return [entry for entry in self._entries if entry["number"] > number], self._last

    def _add(self, entry: dict[str, Any]) -> None:
        self._last += 1
        self._entries.append({"number": self._last, **entry})
        self._more.set()
        self._more = trio.Event()


async def follow_feed(backend: Backend, news: News) -> None:
    """Add every row of the feed, from its beginning on, as long as this runs."""
    cursor: str | None = None
    while True:
        try:
            read = await backend.results(cursor, POLL_S)
        except CALL_FAILED:
            await trio.sleep(_AGAIN_S)
            continue
        if read.status != 200:
            await trio.sleep(_AGAIN_S)
            continue
        for row in read.received["results"]:
            news.row(row)
        cursor = msgspec.convert(read.received["nextCursor"], str)
