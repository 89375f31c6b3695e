"""Playing a match: who has come, which moves were made, and whether a move is accepted.

Times are epoch milliseconds.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

START_AFTER_MS: Final = 60_000
"""Milliseconds that the first player waits for the other one. Then the clocks start, so nobody can
delay a match by staying away."""

# Close codes of the game socket. Each is 4000 plus the HTTP status of the same meaning.

REPLACED: Final = 4409
"""Close code of a socket that a newer one of the same player has replaced (409, conflict)."""

EXPIRED: Final = 4401
"""Close code of a socket whose session token has expired (401, unauthorized)."""

PLAY_STOPPED: Final = 4403
"""Close code after a deactivation or an emergency stop of the account (403, forbidden)."""

UNREADABLE: Final = 4503
"""Close code when the accounts have been unreadable for too long (503, unavailable)."""

ABUSE: Final = 4400
"""Close code for a client that breaks the socket's protocol (400, bad request)."""

Fault = Literal["match_over", "stale_ply", "not_your_turn", "illegal_move"]


class Attendance(msgspec.Struct, frozen=True):
    """When each side first came, when the clocks started, and the players' display names.

    Values that are not known yet are None.
    """

    came_ms: tuple[int | None, int | None] = (None, None)
    clocks_ms: int | None = None
    names: tuple[str | None, str | None] = (None, None)

    def seen(self, side: int, name: str | None, now_ms: int) -> "Attendance":
        """Return the attendance after a side was seen. `name`: its display name, if it gave one.

        The clocks start when the second side comes. A side keeps its name if no name is given.
        """
        if self.came_ms[side] is not None and (name is None or name == self.names[side]):
            return self
        came, names = list(self.came_ms), list(self.names)
        came[side] = now_ms if came[side] is None else came[side]
        names[side] = name or names[side]
        clocks = now_ms if self.clocks_ms is None and None not in came else self.clocks_ms
        return Attendance((came[0], came[1]), clocks, (names[0], names[1]))

    def start_due(self) -> int | None:
        """Return when the clocks start without the second player.

        None if nobody has come yet or the clocks already run.
        """
        seen = [at for at in self.came_ms if at is not None]
        return None if self.clocks_ms is not None or not seen else min(seen) + START_AFTER_MS


class Move(msgspec.Struct, frozen=True):
    """A move as it is stored. `ply`: moves before it. `left_ms`: both sides' time left after it."""

    ply: int
    side: int
    move: str
    at_ms: int
    left_ms: tuple[int, int]


def judge(
    *,
    over: bool,
    played: Sequence[Move],
    side: int,
    turn: int,
    legal: Sequence[str],
    ply: int,
    move: str,
) -> Literal["play", "ignore"] | Fault:
    """Return whether a side's move is played or ignored, or the first fault found.

    `ply`: how many moves the side's client had seen. A client that got no answer sends its move
    again. So, while the match runs, a move is ignored, not refused, if this side has already made
    it at `ply`.
    """
    if over:
        return "match_over"
    if 0 <= ply < len(played):
        then = played[ply]
        return "ignore" if then.side == side and then.move == move else "stale_ply"
    if ply != len(played):
        return "stale_ply"
    if side != turn:
        return "not_your_turn"
    return "play" if move in legal else "illegal_move"
