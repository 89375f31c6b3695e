"""The clocks of a running match: how long a side may still think. All times are milliseconds."""

import msgspec

SideTimes = tuple[int, int]  # of side 0 and side 1


class TimeControl(msgspec.Struct, frozen=True):
    """The time that a game gives each side.

    With `per_turn`, a side has `each_ms` for each move. Otherwise a side has `each_ms` for all its
    moves, and each move adds `increment_ms`.
    """

    each_ms: int
    per_turn: bool = True
    increment_ms: int = 0

    def full(self) -> SideTimes:
        """Return the time that both sides have before the first move."""
        return (self.each_ms, self.each_ms)

    def after_move(self, left: SideTimes, side: int, spent_ms: int) -> SideTimes:
        """Return the time that both sides have left after `side` took `spent_ms` for a move."""
        if self.per_turn:
            return self.full()
        kept = max(0, left[side] - spent_ms) + self.increment_ms
        return (kept, left[1]) if side == 0 else (left[0], kept)


class MatchClock(msgspec.Struct, frozen=True):
    """The time that both sides had left when the turn began, and when it began.

    `since_ms` is in epoch milliseconds; None while the clock is stopped.
    """

    left: SideTimes
    since_ms: int | None = None

    def deadline(self, turn: int) -> int | None:
        """Return when the time of the side to move ends, in epoch milliseconds.

        None while the clock is stopped.
        """
        return None if self.since_ms is None else self.since_ms + self.left[turn]

    def has_run_out(self, turn: int, now_ms: int) -> bool:
        """Return whether the side to move has no time left.

        A move in the last millisecond is in time.
        """
        deadline = self.deadline(turn)
        return deadline is not None and now_ms > deadline

    def shown(self, turn: int, now_ms: int) -> SideTimes:
        """Return the time that both sides have left at `now_ms`."""
        if self.since_ms is None:
            return self.left
        kept = max(0, self.left[turn] - (now_ms - self.since_ms))
        return (kept, self.left[1]) if turn == 0 else (self.left[0], kept)


def restarted(left: SideTimes, running: bool, now_ms: int) -> MatchClock:
    """Return the clock of a match that is loaded from rows.

    Neither side loses the time between the last row and now, because the match could not be played
    then.
    """
    return MatchClock(left, now_ms if running else None)
