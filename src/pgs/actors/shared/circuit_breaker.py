"""The breaker: it stops the calls to a server that does not answer, and later tries one call."""

from typing import Literal

BREAK_AFTER = 5
"""Seats or payouts in a row without an answer, after which calls stop. Fewer could be chance. Each
is counted once, so that a single one that fails again and again does not stop the others."""

OPEN_MIN_S = 2.0
"""Seconds without calls after the breaker has opened. A server that restarts needs about as
long."""

OPEN_MAX_S = 30.0
"""Seconds of the longest pause without calls. The pause doubles with each try that fails. For a
seat or payout that has been open for some minutes, settlement is asked again every 45 to 60 s (see
`RETRY_MAX_S`). The longest pause is shorter than 45 s. When the pause ends, the seat or payout
whose try failed is not due again yet, so another one can be tried. So one request that always fails
does not keep calls stopped."""

BreakerState = Literal["closed", "half-open", "open"]


class Breaker:
    """Whether calls may be made. Times are trio's, in seconds.

    Closed: all calls may be made. Open: none, for some seconds. Half-open, after those seconds: one
    call, whose outcome closes or opens the breaker. Every `begin` that returned True is followed by
    `answered`, `unanswered` or `abandoned`.
    """

    def __init__(self) -> None:
        self._failed: set[str] = set()  # unanswered since the server's last answer
        self._open_until: float | None = None  # None: closed
        self._open_s = 0.0
        self._trying: str | None = None

    def state(self, now: float) -> BreakerState:
        """Return whether the breaker is closed, open or half-open at `now`, in trio's time."""
        if self._open_until is None:
            return "closed"
        return "open" if now < self._open_until else "half-open"

    def wait_s(self, now: float) -> float:
        """Return the seconds until the breaker is half-open; 0 if it is not open."""
        return 0.0 if self._open_until is None else max(0.0, self._open_until - now)

    def refuses(self, now: float) -> bool:
        """Return whether no call may be made now."""
        return self.state(now) == "open" or (
            self._open_until is not None and self._trying is not None
        )

    def begin(self, item_id: str, now: float) -> bool:
        """Return whether the call about a seat or payout may be made now."""
        if self.refuses(now):
            return False
        if self._open_until is not None:
            self._trying = item_id
        return True

    def answered(self) -> bool:
        """Close the breaker after an answer; return whether calls had been stopped."""
        was_open = self._open_until is not None
        self._failed.clear()
        self._open_until, self._open_s, self._trying = None, 0.0, None
        return was_open

    def unanswered(self, item_id: str, now: float) -> float | None:
        """Note a call without an answer; return the seconds for which this stops calls, or None.

        While calls are stopped, only the one call that the half-open breaker has let through has an
        effect. All others began before calls were stopped.
        """
        if self._open_until is None:
            self._failed.add(item_id)
            return self._open(now) if len(self._failed) >= BREAK_AFTER else None
        if self._trying != item_id:
            return None
        self._trying = None
        return self._open(now)

    def abandoned(self, item_id: str) -> None:
        """Note that a call ended without showing whether the server answers."""
        if self._trying == item_id:
            self._trying = None

    def reset(self) -> None:
        """Let the next calls be made: an operator says that the server is back."""
        self.answered()

    def _open(self, now: float) -> float:
        self._open_s = min(OPEN_MAX_S, self._open_s * 2) or OPEN_MIN_S
        self._open_until = now + self._open_s
        return self._open_s
