"""Counts crashes, and limits how many may happen before a cool-down."""

from collections import deque

import msgspec


class RestartLimit(msgspec.Struct, frozen=True):
    """How often one partner's actors, or one chore, may break before they are degraded."""

    restarts: int = 3
    """Crashes within `within_s` that do not begin a cool-down yet; one more does. One bad message
    may break an actor; four crashes in so short a time are a pattern."""

    within_s: float = 30.0
    """Seconds in which those crashes are counted. A permanent fault causes enough crashes within
    this time."""

    cool_down_s: float = 30.0
    """Seconds of a cool-down: the partner, or the chore, is degraded and does nothing. Long enough
    that a broken partner does not slow the others, short enough that a passing fault costs little.
    """


RESTART_LIMIT = RestartLimit()


class RestartCounter:
    """Counts the crashes of one partner's actors, or of one chore, and says when it is degraded."""

    def __init__(self, limit: RestartLimit = RESTART_LIMIT) -> None:
        self.limit = limit
        self._crashes: deque[float] = deque()
        self._degraded_until = float("-inf")

    def crashed(self, now: float) -> bool:
        """Record a crash; return whether it begins a cool-down.

        Crashes during a cool-down do not count.
        """
        if self.degraded(now):
            return False
        self._crashes.append(now)
        while self._crashes[0] <= now - self.limit.within_s:
            self._crashes.popleft()
        if len(self._crashes) <= self.limit.restarts:
            return False
        self._crashes.clear()
        self._degraded_until = now + self.limit.cool_down_s
        return True

    def degraded(self, now: float) -> bool:
        """Return whether a cool-down is under way."""
        return now < self._degraded_until
