"""What a partner's backend shows on its page, as it happens: calls, nudges, rows of the feed."""

from collections import defaultdict, deque
from operator import itemgetter
from typing import Any, Final

import msgspec
import trio

from pgs.clock import Clock
from pgs.demo.backend import CALL_FAILED, Backend, Exchange
from pgs.demo.curl import curl_line
from pgs.demo.inbox import Received

KEPT_MAX: Final = 200
"""Entries of each kind that are kept for a page that is opened later. Older ones are dropped."""

BODY_MAX: Final = 6000
"""Characters of an answer that the page shows. Only a full page of the feed has more."""

_HIDDEN: Final = "sessionToken"

POLL_S: Final = 20
"""Seconds for which the demo's backend asks the feed to hold its call: less than the 25 that the
service allows."""

_AGAIN_S: Final = 1.0
"""Seconds until the demo's backend polls again after a failure, so that a fault does not fill the
terminal."""


class News:
    """A log of entries, numbered from 1. Each open page asks for those that it lacks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: defaultdict[str, deque[dict[str, Any]]] = defaultdict(
            lambda: deque(maxlen=KEPT_MAX)
        )
        self._last = 0
        self._more = trio.Event()

    def nudge(self, received: Received) -> None:
        """Add a call that the webhook received."""
        self._add("nudge", {"arrivedAtMs": received.arrived_ms, "problem": received.problem})

    def row(self, row: dict[str, Any]) -> None:
        """Add a new revision of a feed row."""
        self._add("row", row)

    def call(self, base_url: str, exchange: Exchange) -> None:
        """Add a call that the backend has made, without session tokens.

        A poll of the feed that found nothing is left out.
        """
        if exchange.path.startswith("/partner/results") and not exchange.received.get("results"):
            return
        shown = exchange.received
        if _HIDDEN in shown:
            shown = {**shown, _HIDDEN: "(not shown)"}
        body = msgspec.json.format(msgspec.json.encode(shown)).decode()
        self._add(
            "call",
            {
                "atMs": self._clock.now_ms(),
                "method": exchange.method,
                "path": exchange.path,
                "sent": exchange.sent,
                "status": exchange.status,
                "tookMs": exchange.took_ms,
                "requestId": exchange.headers.get("x-request-id"),
                "received": body if len(body) <= BODY_MAX else body[:BODY_MAX] + "…",
                "curl": curl_line(base_url, exchange),
            },
        )

    async def after(self, number: int, wait_s: float) -> tuple[list[dict[str, Any]], int]:
        """Return the entries after `number`, and the last number.

        If there are none yet, wait up to `wait_s` seconds for one.
        """
        if number > self._last:
            number = 0  # The page is from an earlier run of the demo.
        with trio.move_on_after(wait_s):
            while number >= self._last:
                await self._more.wait()
        kept = [entry for kind in self._entries.values() for entry in kind]
        newer = (entry for entry in kept if entry["number"] > number)
        return sorted(newer, key=itemgetter("number")), self._last

    def _add(self, kind: str, entry: dict[str, Any]) -> None:
        self._last += 1
        self._entries[kind].append({"number": self._last, kind: entry})
        self._more.set()
        self._more = trio.Event()


async def follow_feed(backend: Backend, news: News, since: int) -> None:
    """Read the feed from `since` (epoch seconds) and add every row to `news`, until cancelled."""
    cursor: str | None = None
    while True:
        try:
            read = await backend.results(cursor, POLL_S, None if cursor else since)
        except CALL_FAILED:
            await trio.sleep(_AGAIN_S)
            continue
        if read.status != 200:
            await trio.sleep(_AGAIN_S)
            continue
        for row in read.received["results"]:
            news.row(row)
        cursor = msgspec.convert(read.received["nextCursor"], str)
