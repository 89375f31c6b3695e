"""Activity events: what happens in an account right now, for subscribers of the live stream.

An event about a commit is published after the commit. Events are not stored. No event is built
while an account has no subscriber. A subscriber who falls behind loses the oldest events and is
told how many; publishing never waits for a subscriber.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
import trio

from pgs.domain.environments import Environment

SUBSCRIBERS_LIMIT = 16
"""Streams of one partner that are open at the same time: a few people with a few tabs each."""

BACKLOG_LIMIT = 256
"""Events that wait for one subscriber: a few seconds of a busy account. Beyond that the oldest are
dropped."""

CALLS_PER_S = 20
"""Calls a second that one subscriber is told of, as the interface promises. People cannot read
more; further calls are only counted."""

Kind = Literal["seat", "match", "nudge", "call", "calls", "refusal", "budget"]


class ActivityEvent(msgspec.Struct, frozen=True):
    """One event. `detail`: its fields, named as on the wire; a member of any role may see them."""

    kind: Kind
    at: int
    detail: Mapping[str, object]


class Subscriber:
    """One subscriber's backlog: the events since the last `take`."""

    def __init__(self) -> None:
        self._backlog: deque[ActivityEvent] = deque(maxlen=BACKLOG_LIMIT)
        self._news = trio.Event()
        self._lost = 0
        self._second = 0  # the second whose calls `_calls` counts
        self._calls = 0
        self._untold = 0

    def tell(self, event: ActivityEvent) -> None:
        """Add an event. If the backlog is full, drop the oldest one.

        Of the calls of one second, only the first `CALLS_PER_S` are added; the others are counted.
        """
        if event.kind == "call":
            self._calls = self._calls + 1 if event.at == self._second else 1
            self._second = event.at
            if self._calls > CALLS_PER_S:
                self._untold += 1
                return
        if len(self._backlog) == BACKLOG_LIMIT:
            self._lost += 1
        self._backlog.append(event)
        self._news.set()

    def wake(self) -> None:
        """End the wait for an event."""
        self._news.set()

    async def take(self, until: float) -> tuple[list[ActivityEvent], int]:
        """Return the events since the last call, and how many older ones were lost.

        If there is no event, the call waits until one comes, `wake` is called, or the time `until`
        (trio's) has come. In the last two cases the list may be empty.
        """
        with trio.move_on_at(until):
            await self._news.wait()
        happened, lost = list(self._backlog), self._lost
        if self._untold:
            happened.append(ActivityEvent("calls", self._second, {"untold": self._untold}))
            self._untold = 0
        self._backlog.clear()
        self._lost = 0
        self._news = trio.Event()
        return happened, lost


class Activity:
    """Every subscriber, by partner and environment."""

    def __init__(self) -> None:
        self._subscribers: dict[tuple[str, Environment], set[Subscriber]] = {}

    def has_subscribers(self, partner_id: str, environment: Environment) -> bool:
        """Return whether there is a subscriber. If not, callers need not build events."""
        return (partner_id, environment) in self._subscribers

    def tell(self, partner_id: str, environment: Environment, event: ActivityEvent) -> None:
        """Give an event to every subscriber."""
        for subscriber in self._subscribers.get((partner_id, environment), ()):
            subscriber.tell(event)

    def subscribe(self, partner_id: str, environment: Environment) -> Subscriber | None:
        """Return a new subscriber; None if the partner has `SUBSCRIBERS_LIMIT` already."""
        of_partner = sum(
            len(subscribers)
            for (owner, _), subscribers in self._subscribers.items()
            if owner == partner_id
        )
        if of_partner >= SUBSCRIBERS_LIMIT:
            return None
        subscriber = Subscriber()
        self._subscribers.setdefault((partner_id, environment), set()).add(subscriber)
        return subscriber

    def unsubscribe(
        self, partner_id: str, environment: Environment, subscriber: Subscriber
    ) -> None:
        """Remove a subscriber, so that another one may take its place."""
        place = (partner_id, environment)
        self._subscribers[place].discard(subscriber)
        if not self._subscribers[place]:
            del self._subscribers[place]

    def wake(self, belongs: Callable[[str], bool]) -> None:
        """End the wait of these partners' subscribers, even if there is no event."""
        for (partner_id, _), subscribers in self._subscribers.items():
            if belongs(partner_id):
                for subscriber in subscribers:
                    subscriber.wake()
