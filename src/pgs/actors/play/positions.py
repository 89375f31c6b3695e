"""Where a match stands by its moves, and the time that its game gives. Pure, and yet no rule of `domain`, which knows no games."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pgs.domain.clocks import Allowance
from pgs.domain.play import Move
from pgs.games.rules import Outcome, Rules, SideClock


class Position(msgspec.Struct, frozen=True):
    """A game's state with what its rules say of it. After the end no move is legal."""

    state: Any = None
    turn: int = 0
    legal: tuple[str, ...] = ()
    outcome: Outcome | None = None


def position_of(rules: Rules, state: Any) -> Position:
    """Return a state as the position that it is."""
    outcome = rules.outcome(state)
    return Position(
        state, rules.turn(state), () if outcome is not None else rules.legal_moves(state), outcome
    )


def replay(rules: Rules, moves: Sequence[Move]) -> Position:
    """Return the position after all moves. Raises `ValueError` where they do not follow these rules."""
    state = rules.initial()
    for move in moves:
        state = rules.apply(state, move.move)
    return position_of(rules, state)


def allowance_of(rules: Rules | None) -> Allowance:
    """Return the time that a game gives; none for one that is not installed."""
    if rules is None:
        return Allowance(0)
    clock = rules.clock
    if isinstance(clock, SideClock):
        return Allowance(clock.side_ms, per_turn=False, increment_ms=clock.increment_ms)
    return Allowance(clock.turn_ms)
