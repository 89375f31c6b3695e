"""The nudges in flight of all endpoints, and the port that posts them.

A stop of the service waits for them. A courier that loads again after a crash finds its nudges
here.
"""

import trio

from pgs.actors.ports import NudgePort

DRAIN_S = 5.25
"""Seconds that a stop gives the tries in flight: the longest try, and a moment to log it."""


class Flight:
    """One nudge in flight, or a lone try: a test event, or a nudge that a member has sent again.

    A nudge passes through these states. From state 2 on it is in flight and holds one of the
    courier's in-flight slots, until the courier has handled its end.

    1. Waiting: in the courier's queue. It is lost if the courier ends.
    2. Trying: its task is making a try at the partner's endpoint.
    3. Between tries: the latest try failed in a way that may pass, and the next one is not due yet.
    4. Completed: it was delivered, or refused in a way that allows no further try, or all tries
       failed. The courier logs the last try. If `counts` is true, the last try also changes the
       endpoint's count of failures in a row.
    5. Cut short: its endpoint was saved again, the endpoint or the account was switched off, its
       courier broke, the service stops, an error of the service broke its task, or this node gave
       the partner up. No further try begins. A running try still finishes and is logged, except in
       the last two cases.

    A lone try takes no in-flight slot and never changes the count of failures in a row. A test
    event has no match.

    `endpoint`: partner id and environment. `tested_at_ms`: when a test event was asked for, in
    epoch milliseconds. `is_lone`: whether it is a lone try. `cut`: set when no further try may
    begin.
    """

    def __init__(
        self,
        nudge_id: str,
        match_id: str | None,
        endpoint: tuple[str, str],
        tested_at_ms: int | None = None,
        *,
        is_lone: bool = False,
    ) -> None:
        self.nudge_id = nudge_id
        self.match_id = match_id
        self.endpoint = endpoint
        self.tested_at_ms = tested_at_ms
        self.is_lone = is_lone
        self.cut = trio.Event()
        self.counts = True

    def cut_short(self) -> None:
        """Begin no further try, and do not change the endpoint's count of failures in a row."""
        self.counts = False
        self.cut.set()


class Deliveries:
    """Every nudge and lone try in flight, each until its outcome is in rows.

    `outbound` makes the tries.
    """

    def __init__(self, outbound: NudgePort) -> None:
        self.outbound = outbound
        self._flights: set[Flight] = set()
        self._draining_until: float | None = None
        self._all_ended = trio.Event()

    @property
    def draining(self) -> bool:
        """Whether the service is stopping, so that nothing new may be sent."""
        return self._draining_until is not None

    def add(self, flight: Flight) -> None:
        """Add a flight. Once draining has begun, the flight is cut before its first try."""
        self._flights.add(flight)
        if self.draining:
            flight.cut.set()

    def discard(self, flight: Flight) -> None:
        """Remove a flight that has ended. Removing it again changes nothing."""
        self._flights.discard(flight)
        if not self._flights:
            self._all_ended.set()

    def __len__(self) -> int:
        return len(self._flights)

    def cut_short(self, endpoint: tuple[str, str]) -> list[Flight]:
        """Cut short all nudges in flight to an endpoint, and return them.

        The courier may have started some of them before it broke and loaded again. Lone tries go
        on: each ends by itself, and has no slot that the courier must free.
        """
        found = [
            flight for flight in self._flights if flight.endpoint == endpoint and not flight.is_lone
        ]
        for flight in found:
            flight.cut_short()
        return found

    def tested_at_ms(self, endpoint: tuple[str, str]) -> int | None:
        """Return when the newest test event in flight to an endpoint was asked for.

        The result is in epoch milliseconds; None if no test event is in flight.
        """
        times = [
            flight.tested_at_ms
            for flight in self._flights
            if flight.endpoint == endpoint and flight.tested_at_ms is not None
        ]
        return max(times, default=None)

    def begin_drain(self) -> None:
        """Begin no further try; running tries get `DRAIN_S`. A second call does nothing."""
        if self._draining_until is None:
            self._draining_until = trio.current_time() + DRAIN_S
            for flight in self._flights:
                # Not `cut_short`: a nudge that completes with its running try still counts.
                flight.cut.set()

    async def drain(self) -> None:
        """Return once every running try has ended and is logged, or `DRAIN_S` have passed.

        The time runs from the first call of `begin_drain`.
        """
        self.begin_drain()
        if self._flights and self._draining_until is not None:
            self._all_ended = trio.Event()
            with trio.move_on_at(self._draining_until):
                await self._all_ended.wait()
