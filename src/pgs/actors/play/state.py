"""What a table knows of its match: its rows, the position, the clocks, and a decided end."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from pgs.actors.play.position import Position, replay, time_control_of
from pgs.domain.match_clocks import MatchClock, restarted
from pgs.domain.matches import Match, MatchDecision
from pgs.domain.play import START_AFTER_MS, Attendance, Move
from pgs.domain.seats import EndReason, Seat
from pgs.games import rules as games

DUE_SLACK_S = 1
"""Seconds added to the `due_at` of a match's row. A clock runs out one millisecond after its
deadline. So if the deadline is on a whole second, a table opened at that moment would find that the
clock still runs."""

log = structlog.get_logger("pgs.table")


class MatchState:
    """One match as its table sees it. Only the table changes it.

    `match` is None if there is no such match. `rules` is None if the game cannot be played: it is
    not installed, or its rules no longer allow the moves that were played. `ending` is an end that
    the table has decided or that follows from the moves; the match's row may not show it yet.
    """

    def __init__(
        self,
        match: Match | None,
        seats: Sequence[Seat],
        attendance: Attendance,
        moves: list[Move],
        rules: games.Rules | None,
        now_ms: int,
    ) -> None:
        self.match = match
        self.seats = tuple(seats)
        self.attendance = attendance
        self.moves = moves
        self.rules = rules
        self.ending: MatchDecision | None = None
        self.position = Position()
        self._replay()
        self.time_control = time_control_of(self.rules)
        left = moves[-1].left_ms if moves else self.time_control.full()
        self.clock = restarted(left, attendance.clocks_ms is not None, now_ms)
        # Rows say when the first player came. But the service may have been down since then, so the
        # second player could not come. A table that is loaded again waits the whole time again.
        self._wait_until_ms = now_ms + START_AFTER_MS

    def _replay(self) -> None:
        if self.rules is None:
            return
        try:
            self.set_position(replay(self.rules, self.moves))
        except ValueError:
            self.rules = None

    @property
    def is_unplayable(self) -> bool:
        """Whether the game is not installed, or its rules no longer allow the moves played."""
        return self.rules is None

    # --- questions -----------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Whether the match's row says that it runs."""
        return self.match is not None and self.match.status == "started"

    @property
    def is_over(self) -> bool:
        """Whether the match is over on disk, as its row or its moves show."""
        by_moves = self.ending is not None and self.ending.end_reason == "completed"
        return not self.runs or by_moves

    @property
    def is_ending(self) -> bool:
        """Whether the table has decided an end that no row shows yet. A crash would undo it."""
        return self.ending is not None and not self.is_over

    def side_of(self, player_id: str) -> int | None:
        """Return the side that a player has in the match: 0, 1, or None."""
        sides = (side for side, seat in enumerate(self.seats) if seat.player_id == player_id)
        return next(sides, None)

    def start_due_ms(self, attendance: Attendance | None = None) -> int | None:
        """Return when the clocks start without the second player, in epoch milliseconds.

        None when nobody has come, or when the clocks run. `attendance` replaces the stored one.
        """
        due = (attendance or self.attendance).start_due()
        return None if due is None else max(due, self._wait_until_ms)

    def row_due_at(self, attendance: Attendance, clock: MatchClock, turn: int, now_ms: int) -> int:
        """Return the match row's `due_at`: the epoch second at which a closed table opens again."""
        due_ms = clock.deadline(turn) or self.start_due_ms(attendance) or now_ms
        return -(-due_ms // 1000) + DUE_SLACK_S

    def next_look_ms(self) -> int | None:
        """Return when the clocks must be checked next, in epoch milliseconds, or None."""
        deadline = self.clock.deadline(self.position.turn)
        # A move in the last millisecond is in time, so the check comes one millisecond later.
        return self.start_due_ms() if deadline is None else deadline + 1

    def completed(self, outcome: games.Outcome) -> MatchDecision:
        """Return the decision that follows from a game's outcome."""
        winner = None if outcome.winner is None else self.seats[outcome.winner].player_id
        return MatchDecision("ended", winner, "completed", outcome.scores)

    def opponent_wins(self, side: int, end_reason: EndReason) -> MatchDecision:
        """Return the decision by which a side loses."""
        return MatchDecision("ended", self.seats[1 - side].player_id, end_reason)

    # --- changes -------------------------------------------------------------------------------

    def set_position(self, position: Position) -> None:
        """Make `position` the current one. If it has an outcome, that decides the match's end."""
        self.position = position
        if position.outcome is not None:
            self.ending = self.completed(position.outcome)

    def stop_play(self) -> None:
        """Stop the clock and allow no further move."""
        self.clock = MatchClock(self.clock.left)
        self.position = msgspec.structs.replace(self.position, legal=())

    def note_due_at(self, due_at: int) -> None:
        """Note the `due_at` that was just committed."""
        if self.match is not None:
            self.match = msgspec.structs.replace(self.match, due_at=due_at)
