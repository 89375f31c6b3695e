"""The position of a match after its moves, and the thinking time that its game gives.

These functions are pure. They are not in `domain` because `domain` does not import the games.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from pgs.domain.match_clocks import TimeControl
from pgs.domain.play import Move
from pgs.games.rules import Outcome, Rules, SideClock


class Position(msgspec.Struct, frozen=True):
    """A game's state with the side to move, its legal moves and its outcome.

    After the end no move is legal.
    """

    state: Any = None
    turn: int = 0
    legal: tuple[str, ...] = ()
    outcome: Outcome | None = None


def position_of(rules: Rules, state: Any) -> Position:
    """Return the position for a game's `state`."""
    outcome = rules.outcome(state)
    legal = () if outcome is not None else rules.legal_moves(state)
    return Position(state, rules.turn(state), legal, outcome)


def replay(rules: Rules, moves: Sequence[Move]) -> Position:
    """Return the position after all moves. Raises `ValueError` if the rules forbid one of them."""
    state = rules.initial()
    for move in moves:
        state = rules.apply(state, move.move)
    return position_of(rules, state)


def states_after(rules: Rules, moves: Sequence[Move]) -> list[Any]:
    """Return what players see before the first move and after each. Raises as `replay` does."""
    state = rules.initial()
    seen = [rules.view(state)]
    for move in moves:
        state = rules.apply(state, move.move)
        seen.append(rules.view(state))
    return seen


def time_control_of(rules: Rules | None) -> TimeControl:
    """Return the time that a game gives each side: no time if the game is not installed."""
    if rules is None:
        return TimeControl(0)
    clock = rules.clock
    if isinstance(clock, SideClock):
        return TimeControl(clock.side_ms, per_turn=False, increment_ms=clock.increment_ms)
    return TimeControl(clock.turn_ms)
