"""What a partner's backend shows on its page: nudges and rows of the feed, as they arrive."""

from collections import deque
from typing import Any, Final

import msgspec
import trio

from pgs.demo.backend import CALL_FAILED, Backend
from pgs.demo.inbox import Received

KEPT_MAX: Final = 400
"""Entries that are kept for a page that is opened later. Older ones are dropped."""

POLL_S: Final = 20
"""Seconds for which the demo's backend asks the feed to hold its call: less than the 25 that the
service allows."""

_AGAIN_S: Final = 1.0
"""Seconds until the demo's backend polls again after a failure, so that a fault does not fill the
terminal."""


class News:
    """A log of entries, numbered from 1. Each open page asks for those after the last it has."""

    def __init__(self) -> None:
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT_MAX)
        self._last = 0
        self._more = trio.Event()

    def nudge(self, received: Received) -> None:
        """Add a call that the webhook received."""
        self._add({"nudge": {"arrivedAtMs": received.arrived_ms, "problem": received.problem}})

    def row(self, row: dict[str, Any]) -> None:
        """Add a new revision of a feed row."""
        self._add({"row": row})

    async def after(self, number: int, wait_s: float) -> tuple[list[dict[str, Any]], int]:
        """Return the entries after `number`, and the last number.

        If there are none yet, wait up to `wait_s` seconds for one.
        """
        if number > self._last:
            number = 0  # The page is from an earlier run of the demo.
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
    """Read the feed from its beginning and add every row to `news`, until cancelled."""
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
