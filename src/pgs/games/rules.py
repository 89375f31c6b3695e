"""The interface of a game: a few pure functions on a state that only the game itself reads.

Side 0 moves first. The platform stores the moves, not the states, and rebuilds a state by applying
the moves to the initial state. Once rules are published, they must therefore always lead from the
same moves to the same state.
"""

from typing import Any, Final, Literal, Protocol

import msgspec

Side = Literal[0, 1]

PASS: Final = "pass"  # noqa: S105  a move, no secret
"""The only legal move of a side that cannot play, in games in which the other side then goes on."""

MOVE_MAX: Final = 16
"""Characters of the longest move that a game may name. The longest so far, a promotion in chess,
has 5."""


class TurnClock(msgspec.Struct, frozen=True):
    """Each move must be made within `turn_ms`. Time left over is lost."""

    turn_ms: int = 30_000


class SideClock(msgspec.Struct, frozen=True):
    """Each side has `side_ms` for all of its moves, and gains `increment_ms` for each move."""

    side_ms: int
    increment_ms: int


class Outcome(msgspec.Struct, frozen=True):
    """How a game ended. `winner`: None for a draw. `scores`: points of side 0 and 1, if any."""

    winner: Side | None
    scores: tuple[int, int] | None = None


class Rules(Protocol):
    """One game. Its states are immutable; their type is up to the game.

    The service calls `apply` and `legal_moves` at every move of a match. Both have to be fast.
    """

    @property
    def game_id(self) -> str:
        """The game's id on the wire."""
        ...

    @property
    def name(self) -> str:
        """The game's name as players see it."""
        ...

    @property
    def clock(self) -> TurnClock | SideClock:
        """How long players may think."""
        ...

    def initial(self) -> Any:
        """Return the state before the first move."""
        ...

    def turn(self, state: Any) -> Side:
        """Return the side to move; once the game is over, either side."""
        ...

    def legal_moves(self, state: Any) -> tuple[str, ...]:
        """Return the legal moves, always in the same order; none once the game is over.

        A side that must pass has `PASS` as its only move. No move is longer than `MOVE_MAX`.
        """
        ...

    def apply(self, state: Any, move: str) -> Any:
        """Return the state after one of the legal moves. Raises `ValueError` for any other move."""
        ...

    def outcome(self, state: Any) -> Outcome | None:
        """Return how the game ended, or None while it goes on."""
        ...

    def view(self, state: Any) -> dict[str, Any]:
        """Return what players see of the state, ready for JSON; the same for both sides.

        It is the `state` of the Game API.
        """
        ...
