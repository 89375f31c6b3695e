"""Clocks of a match at play: how long a side may still think. All times are milliseconds; now comes in as an argument."""

import msgspec

Pair = tuple[int, int]  # of side 0 and side 1


class Allowance(msgspec.Struct, frozen=True):
    """What a game gives: `each_ms` for every move (`per_turn`), or for all of a side's moves, to which each adds `increment_ms`."""

    each_ms: int
    per_turn: bool = True
    increment_ms: int = 0

    def full(self) -> Pair:
        """Return what both sides have before the first move."""
        return (self.each_ms, self.each_ms)

    def after_move(self, left: Pair, side: int, spent_ms: int) -> Pair:
        """Return what both have once a side has moved, for which it took `spent_ms`."""
        if self.per_turn:
            return self.full()
        kept = max(0, left[side] - spent_ms) + self.increment_ms
        return (kept, left[1]) if side == 0 else (left[0], kept)


class MatchClock(msgspec.Struct, frozen=True):
    """What both sides had left when the turn began, and since when (epoch) it runs; `since_ms` None: it does not run yet."""

    left: Pair
    since_ms: int | None = None

    def deadline(self, turn: int) -> int | None:
        """Return when the side to move will have lost, in epoch milliseconds; None while the clock stands."""
        return None if self.since_ms is None else self.since_ms + self.left[turn]

    def has_run_out(self, turn: int, now_ms: int) -> bool:
        """Return whether the side to move has lost. A move that comes in its last millisecond is in time."""
        deadline = self.deadline(turn)
        return deadline is not None and now_ms > deadline

    def shown(self, turn: int, now_ms: int) -> Pair:
        """Return what both have left by now."""
        if self.since_ms is None:
            return self.left
        spent = max(0, self.left[turn] - (now_ms - self.since_ms))
        return (spent, self.left[1]) if turn == 0 else (self.left[0], spent)


def restarted(left: Pair, running: bool, now_ms: int) -> MatchClock:
    """Return the clock of a match that comes back from rows: what nobody could use, between the last row and now, costs nobody."""
    return MatchClock(left, now_ms if running else None)
