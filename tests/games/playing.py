"""Shared by the tests of all games: seeded random games, and counts of move sequences."""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from pgs.games.rules import Rules

SEEDS = st.integers(0, 2**32)


def seeds(examples: int) -> settings:
    """Return the settings of a property test over `examples` seeds.

    Seeds are not shrunk, because a smaller seed makes no simpler game.
    """
    return settings(max_examples=examples, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def played(rules: Rules, moves: Iterable[str]) -> Any:
    """Return the state that the moves reach from the initial state."""
    state = rules.initial()
    for move in moves:
        state = rules.apply(state, move)
    return state


def a_game(rules: Rules, seed: int, at_most: int = 10_000) -> list[tuple[Any, str]]:
    """Play a random game; return each state with the move that was made in it.

    The final state is left out, because no move is made in it. `played` returns it.
    """
    course: list[tuple[Any, str]] = []
    chooses, state = random.Random(seed), rules.initial()
    while (moves := rules.legal_moves(state)) and len(course) < at_most:
        move = chooses.choice(moves)
        course.append((state, move))
        state = rules.apply(state, move)
    return course


def counts(rules: Rules, depth: int) -> list[tuple[int, int]]:
    """Return how many sequences of 1, 2, … `depth` moves there are, and how many states result."""
    states, found = Counter([rules.initial()]), []
    for _ in range(depth):
        after: Counter[Any] = Counter()
        for state, times in states.items():
            for move in rules.legal_moves(state):
                after[rules.apply(state, move)] += times
        states = after
        found.append((states.total(), len(states)))
    return found
