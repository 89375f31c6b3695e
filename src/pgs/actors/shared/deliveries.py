"""Nudges on their way, of all endpoints: counted for the moment at which the service stops, and found again by a courier that broke."""

import trio

DRAIN_S = 5.25
"""Seconds that a stop gives the tries in flight: the longest try, and a moment to log it."""


class Flight:
    """One nudge on its way to the endpoint of a partner and environment. A test event is about no match, and takes no place in flight.

    `cut`: no further try is to begin. `counts`: its outcome will tell something of the endpoint as it now is. `tested_at_ms`: when a test
    event was asked for, in epoch milliseconds.
    """

    def __init__(
        self,
        nudge_id: str,
        match_id: str | None,
        endpoint: tuple[str, str],
        tested_at_ms: int | None = None,
    ) -> None:
        self.nudge_id = nudge_id
        self.match_id = match_id
        self.endpoint = endpoint
        self.tested_at_ms = tested_at_ms
        self.cut = trio.Event()
        self.counts = True

    def cut_short(self) -> None:
        """Let it finish the try that it is in, and count for nothing."""
        self.counts = False
        self.cut.set()


class Deliveries:
    """Every nudge in flight, each until its outcome is in rows."""

    def __init__(self) -> None:
        self._flights: set[Flight] = set()
        self._draining_until: float | None = None
        self._landed = trio.Event()

    @property
    def draining(self) -> bool:
        """Whether the service is stopping, and nothing new is to be sent."""
        return self._draining_until is not None

    def add(self, flight: Flight) -> None:
        """Count a nudge in. Once draining has begun it is cut before its first try."""
        self._flights.add(flight)
        if self.draining:
            flight.cut.set()

    def discard(self, flight: Flight) -> None:
        """Count a nudge out."""
        self._flights.discard(flight)
        if not self._flights:
            self._landed.set()

    def __len__(self) -> int:
        return len(self._flights)

    def cut_short(self, endpoint: tuple[str, str]) -> list[Flight]:
        """Cut the nudges that are on their way to an endpoint, whichever life of its courier sent them, and return them."""
        found = [
            flight
            for flight in self._flights
            if flight.endpoint == endpoint and flight.match_id is not None
        ]
        for flight in found:
            flight.cut_short()
        return found

    def tested_at_ms(self, endpoint: tuple[str, str]) -> int | None:
        """Return when the newest test event was asked for that is on its way to an endpoint."""
        times = [
            flight.tested_at_ms
            for flight in self._flights
            if flight.endpoint == endpoint and flight.tested_at_ms is not None
        ]
        return max(times, default=None)

    def begin_drain(self) -> None:
        """Begin no further try, and give those that run their time; calling it again changes nothing."""
        if self._draining_until is None:
            self._draining_until = trio.current_time() + DRAIN_S
            for flight in self._flights:
                flight.cut.set()  # it still counts: what completes has completed

    async def drain(self) -> None:
        """Return once every try that runs has come to its end and is logged, `DRAIN_S` after the draining began at the latest."""
        self.begin_drain()
        if self._flights and self._draining_until is not None:
            self._landed = trio.Event()
            with trio.move_on_at(self._draining_until):
                await self._landed.wait()
