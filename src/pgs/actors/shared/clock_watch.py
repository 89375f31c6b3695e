"""What is known of the machine's clock: whether it went back, and whether the rows are ahead."""

from pgs.clock import BEHIND_MS, Clock


class ClockWatch:
    """Compares the machine's clock with the service's clock and with the newest row.

    The service's clock, `Clock.now_ms`, never goes back.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._newest_at: int | None = None
        self._told = False

    def note_newest_row(self, at: int | None) -> bool:
        """Note the time of the newest row; return whether to report that the row is ahead.

        While the rows are ahead, only the first call returns True.
        """
        self._newest_at = at
        ahead = self.rows_ahead_s > 0
        news = ahead and not self._told
        self._told = ahead
        return news

    @property
    def rows_ahead_s(self) -> int:
        """Seconds by which the newest row is ahead of the machine's clock.

        0 if it is ahead by at most `BEHIND_MS`.
        """
        ahead_s = (self._newest_at or 0) - self._clock.real()
        return ahead_s if ahead_s * 1000 > BEHIND_MS else 0

    @property
    def behind_s(self) -> int:
        """Seconds by which the machine's clock is behind the service's clock.

        0 if it is behind by at most `BEHIND_MS`.
        """
        behind_ms = self._clock.now_ms() - self._clock.real_ms()
        return behind_ms // 1000 if behind_ms > BEHIND_MS else 0

    def fault(self) -> str | None:
        """Return what an operator should know and do, or None while the clock is credible."""
        if behind_s := self.behind_s:
            return (
                f"the machine's clock went back by {behind_s} s, so nothing falls due until it has "
                "caught up: see that the clock is right, then restart the service"
            )
        if ahead_s := self.rows_ahead_s:
            return (
                f"the newest row was written {ahead_s} s in the future: either the clock is wrong "
                "now, or it was wrong then; see docs/operations.md"
            )
        return None
