"""How often a partner's actors may break before the partner rests: the limit as data, and the count."""

from collections import deque

import msgspec


class RestartLimit(msgspec.Struct, frozen=True):
    """How often actors of one partner may break before the partner rests."""

    restarts: int = 3
    """Restarts of one partner's actors, within the time below, before the partner is degraded. One
    bad message may break an actor; four breaks in a row are a pattern."""

    within_s: float = 30.0
    """Seconds in which those restarts are counted. A fault that every retry meets shows within this
    time."""

    cool_down_s: float = 30.0
    """Seconds for which a degraded partner is answered as crashed. Long enough to spare the others,
    short enough that a passing fault costs little."""


RESTART_LIMIT = RestartLimit()


class Watch:
    """Counts the crashes of one partner's actors and says whether the partner is degraded."""

    def __init__(self, limit: RestartLimit = RESTART_LIMIT) -> None:
        self.limit = limit
        self._crashes: deque[float] = deque()
        self._rests_until = float("-inf")

    def crashed(self, now: float) -> bool:
        """Record a crash; return True when the partner has thereby become degraded. While it rests nothing is counted."""
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
        """Return whether the partner is resting."""
        return now < self._rests_until
