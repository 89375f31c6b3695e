"""What the tests of all games share: whole games from a seed, and counts of what can be played."""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from pgs.games.rules import Rules

SEEDS = st.integers(0, 2**32)


def seeds(examples: int) -> settings:
    """So many games from seeds. A smaller seed makes no simpler game, so that nothing is gained by shrinking one, and much time is lost."""
    return settings(max_examples=examples, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def played(rules: Rules, moves: Iterable[str]) -> Any:
    """The state after moves from the beginning."""
    state = rules.initial()
    for move in moves:
        state = rules.apply(state, move)
    return state


def a_game(rules: Rules, seed: int, at_most: int = 10_000) -> list[tuple[Any, str]]:
    """Every state of a game played at random, each with the move made in it; the last is missing, it has none. `played` leads there."""
    course: list[tuple[Any, str]] = []
    chooses, state = random.Random(seed), rules.initial()
    while (moves := rules.legal_moves(state)) and len(course) < at_most:
        move = chooses.choice(moves)
        course.append((state, move))
        state = rules.apply(state, move)
    return course


def counts(rules: Rules, depth: int) -> list[tuple[int, int]]:
    """How many sequences of 1, 2, … `depth` moves there are, and how many different states they lead to."""
    states, found = Counter([rules.initial()]), []
    for _ in range(depth):
        after: Counter[Any] = Counter()
        for state, times in states.items():
            for move in rules.legal_moves(state):
                after[rules.apply(state, move)] += times
        states = after
        found.append((states.total(), len(states)))
    return found
