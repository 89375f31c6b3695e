"""What a game is to the platform: a handful of pure functions over a state that nobody but the game looks into.

Side 0 is the older seat and moves first. The platform keeps the moves, not the states: a state is always what `apply` makes of the
initial one, so rules that are published must not change what an old list of moves leads to.
"""

from typing import Any, Final, Literal, Protocol

import msgspec

Side = Literal[0, 1]

PASS: Final = "pass"  # noqa: S105  a move, no secret
"""The one legal move of a side that has none, in games where that is no end."""

MOVE_MAX: Final = 16
"""Characters of the longest move that a game may name. The longest known is a promotion in chess,
of 5."""


class TurnClock(msgspec.Struct, frozen=True):
    """Every move has so many milliseconds; what is left of one is lost."""

    turn_ms: int = 30_000


class SideClock(msgspec.Struct, frozen=True):
    """Each side has so many milliseconds for all of its moves, and gains `increment_ms` with each."""

    side_ms: int
    increment_ms: int


class Outcome(msgspec.Struct, frozen=True):
    """How a game ended: `winner` None is a draw. `scores`: points of side 0 and side 1, in games that count any."""

    winner: Side | None
    scores: tuple[int, int] | None = None


class Rules(Protocol):
    """One game. Its states are immutable, and of whatever type it likes; `apply` and `legal_moves` are called for every move."""

    @property
    def game_id(self) -> str:
        """The game's id on the wire."""
        ...

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def clock(self) -> TurnClock | SideClock:
        """How long players may think."""
        ...

    def initial(self) -> Any:
        """Return the state before the first move."""
        ...

    def turn(self, state: Any) -> Side:
        """Return whose move it is; once the game is over, either side."""
        ...

    def legal_moves(self, state: Any) -> tuple[str, ...]:
        """Return the moves of the side to move, in an order that never varies; none once the game is over.

        A side that must pass has `PASS` alone. No move is longer than `MOVE_MAX`.
        """
        ...

    def apply(self, state: Any, move: str) -> Any:
        """Return the state after one of the legal moves. Any other move is a bug of the caller's: ValueError."""
        ...

    def outcome(self, state: Any) -> Outcome | None:
        """Return how the game ended, or None while it goes on."""
        ...

    def view(self, state: Any) -> dict[str, Any]:
        """Return what players see of the state, ready for JSON: the `state` of the Game API, alike for both sides."""
        ...
