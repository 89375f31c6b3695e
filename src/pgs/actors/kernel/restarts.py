"""How often something may break before it rests: the limit, and the count."""

from collections import deque

import msgspec


class RestartLimit(msgspec.Struct, frozen=True):
    """How often one partner's actors, or one chore, may break before they rest."""

    restarts: int = 3
    """Crashes within the time below that are followed by a restart at once; one more begins a rest.
    One bad message may break an actor; four breaks in a row are a pattern."""

    within_s: float = 30.0
    """Seconds in which those crashes are counted. A fault that every retry meets shows within this
    time."""

    cool_down_s: float = 30.0
    """Seconds of a rest. Long enough to spare the others, short enough that a passing fault costs
    little."""


RESTART_LIMIT = RestartLimit()


class RestartCounter:
    """Counts the crashes of one partner's actors, or of one chore, and says when it must rest."""

    def __init__(self, limit: RestartLimit = RESTART_LIMIT) -> None:
        self.limit = limit
        self._crashes: deque[float] = deque()
        self._rests_until = float("-inf")

    def crashed(self, now: float) -> bool:
        """Record a crash; return whether a rest begins with it. A rest counts no crashes."""
        if self.degraded(now):
            return False
        self._crashes.append(now)
        while self._crashes[0] <= now - self.limit.within_s:
            self._crashes.popleft()
        if len(self._crashes) <= self.limit.restarts:
            return False
        self._crashes.clear()
        self._rests_until = now + self.limit.cool_down_s
        return True

    def degraded(self, now: float) -> bool:
        """Return whether the rest is not over yet."""
        return now < self._rests_until
