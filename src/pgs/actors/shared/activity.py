"""What is happening in an account right now, for who watches: told as it happens, kept nowhere.

Whoever does something tells it here after its commit. Where nobody watches, telling costs a look at an empty table. A watcher who does not
keep up loses the oldest events and is told how many; nobody ever waits for one.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import msgspec
import trio

from pgs.domain.environments import Environment

SUBSCRIBERS_LIMIT = 16
"""Streams of one partner that are open at once: some people with some tabs each."""

BACKLOG_LIMIT = 256
"""Events that wait for one subscriber: a few seconds of a busy account. Beyond that the oldest are
dropped."""

Kind = Literal["seat", "match", "nudge", "refusal", "budget"]


class ActivityEvent(msgspec.Struct, frozen=True):
    """One event. `detail`: what a viewer may see of it, with names as on the wire."""

    kind: Kind
    at: int
    detail: Mapping[str, str | int | bool | None]


class Subscriber:
    """One who watches: what has happened since they last looked."""

    def __init__(self) -> None:
        self._backlog: deque[ActivityEvent] = deque(maxlen=BACKLOG_LIMIT)
        self._news = trio.Event()
        self._lost = 0

    def tell(self, happening: ActivityEvent) -> None:
        """Add an event; the oldest one goes when there is no room."""
        if len(self._backlog) == BACKLOG_LIMIT:
            self._lost += 1
        self._backlog.append(happening)
        self._news.set()

    async def take(self, until: float) -> tuple[list[ActivityEvent], int]:
        """Return what has happened and how many events were lost before it; nothing when nothing has until then, in trio's time."""
        with trio.move_on_at(until):
            await self._news.wait()
        happened, lost = list(self._backlog), self._lost
        self._backlog.clear()
        self._lost = 0
        self._news = trio.Event()
        return happened, lost


class Activity:
    """Every watcher, by partner and environment."""

    def __init__(self) -> None:
        self._watchers: dict[tuple[str, Environment], set[Subscriber]] = {}

    def has_subscribers(self, partner_id: str, environment: Environment) -> bool:
        """Return whether anybody watches, so that nobody describes what no one sees."""
        return (partner_id, environment) in self._watchers

    def tell(self, partner_id: str, environment: Environment, happening: ActivityEvent) -> None:
        """Tell every watcher."""
        for watcher in self._watchers.get((partner_id, environment), ()):
            watcher.tell(happening)

    @contextmanager
    def watching(self, partner_id: str, environment: Environment) -> Iterator[Subscriber | None]:
        """Give a watcher for a block; None when the partner has as many as it may."""
        if (
            sum(
                len(watchers)
                for (owner, _), watchers in self._watchers.items()
                if owner == partner_id
            )
            >= SUBSCRIBERS_LIMIT
        ):
            yield None
            return
        place, watcher = (partner_id, environment), Subscriber()
        self._watchers.setdefault(place, set()).add(watcher)
        try:
            yield watcher
        finally:
            self._watchers[place].discard(watcher)
            if not self._watchers[place]:
                del self._watchers[place]
