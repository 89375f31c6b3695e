"""The held calls that wait for news in a results feed."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from pgs.domain.environments import Environment

LONG_POLLS_LIMIT = 32
"""Calls of one partner that are held at the same time. A further one is answered at once, so the
partner only has to poll again."""


class ResultsBells:
    """A bell for each feed. Actors ring it after a commit; held calls wait for it."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, Environment], trio.Event] = {}
        self._held: dict[str, int] = {}
        self.stopped = False

    def ring(self, partner_id: str, environment: Environment) -> None:
        """Wake everyone who waits for this feed."""
        event = self._waiting.pop((partner_id, environment), None)
        if event is not None:
            event.set()

    def ring_all(self) -> None:
        """Wake everyone, and let nobody wait again: the service is stopping."""
        self.stopped = True
        for event in self._waiting.values():
            event.set()
        self._waiting.clear()

    def held(self) -> list[str]:
        """Return the partners that have held calls."""
        return list(self._held)

    def count_of(self, partner_id: str) -> int:
        """Return how many calls of a partner are held."""
        return self._held.get(partner_id, 0)

    def __len__(self) -> int:
        """Return how many partners have held calls."""
        return len(self._held)

    @contextmanager
    def hold(self, partner_id: str) -> Iterator[bool]:
        """Count a held call while a block runs; yield False if the call must not be held.

        A call must not be held if the partner has `LONG_POLLS_LIMIT` already or the service stops.
        """
        held = self.count_of(partner_id)
        if held >= LONG_POLLS_LIMIT or self.stopped:
            yield False
            return
        self._held[partner_id] = held + 1
        try:
            yield True
        finally:
            left = self._held[partner_id] - 1
            if left:
                self._held[partner_id] = left
            else:
                del self._held[partner_id]

    def bell(self, partner_id: str, environment: Environment) -> trio.Event:
        """Return the event that is set at the next ring of this feed.

        Take it before you read the feed: a ring during the read then ends the wait after it.
        """
        event = self._waiting.setdefault((partner_id, environment), trio.Event())
        if self.stopped:
            self.ring(partner_id, environment)
        return event

    async def wait(self, partner_id: str, environment: Environment, until: float) -> None:
        """Return when the bell rings, or at `until` in trio's time."""
        with trio.move_on_at(until):
            await self.bell(partner_id, environment).wait()
