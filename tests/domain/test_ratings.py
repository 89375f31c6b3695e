"""How a match changes its players' ratings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.ratings import POINT, UNRATED, Rating, after_match
from pgs.domain.seats import Result

ratings = st.builds(
    Rating,
    st.integers(-50 * POINT, 100 * POINT),
    st.integers(POINT // 2, 9 * POINT),
    st.integers(0, 1000),
)
PLAYERS = ("alice", "bob")


def test_everybody_begins_with_openskills_defaults() -> None:
    assert Rating(25 * POINT, 8_333_333) == UNRATED


def test_the_first_match_of_two_newcomers_changes_both_as_the_model_says() -> None:
    """The expected value is Plackett-Luce for two equal players, calculated by hand.

    The winner gains half of sigma² / c, where c² = 2 (sigma² + beta²). Here sigma² includes
    tau².
    """
    won, lost = after_match(PLAYERS, (UNRATED, UNRATED), "won")
    variance = (25 / 3) ** 2 + (25 / 300) ** 2
    expected = 0.5 * variance / math.sqrt(2 * (variance + (25 / 6) ** 2))
    assert won.mu - 25 * POINT == 25 * POINT - lost.mu == pytest.approx(expected * POINT, abs=2)
    assert won.sigma == lost.sigma < UNRATED.sigma
    assert (won.last_opponent, lost.last_opponent) == ("bob", "alice")


@given(ratings, ratings)
def test_a_winner_gains_and_a_loser_loses(one: Rating, two: Rating) -> None:
    won, lost = after_match(PLAYERS, (one, two), "won")
    assert won.mu >= one.mu
    assert lost.mu <= two.mu
    assert (won.matches, lost.matches) == (one.matches + 1, two.matches + 1)
    assert min(won.sigma, lost.sigma) > 0


@given(ratings, ratings)
def test_the_order_of_the_players_makes_no_difference(one: Rating, two: Rating) -> None:
    opposite: dict[Result, Result] = {"won": "lost", "lost": "won", "drawn": "drawn"}
    for result, other in opposite.items():
        there, back = (
            after_match(PLAYERS, (one, two), result),
            after_match(PLAYERS[::-1], (two, one), other),
        )
        for a, b in zip(there, back[::-1], strict=True):
            assert max(abs(a.mu - b.mu), abs(a.sigma - b.sigma)) <= 1
            assert a.last_opponent == b.last_opponent


def test_a_draw_brings_two_ratings_closer_and_leaves_equal_ones_unchanged() -> None:
    strong, weak = Rating(30 * POINT, 4 * POINT), Rating(20 * POINT, 4 * POINT)
    after = after_match(PLAYERS, (strong, weak), "drawn")
    assert strong.mu > after[0].mu > after[1].mu > weak.mu
    assert {rating.mu for rating in after_match(PLAYERS, (UNRATED, UNRATED), "drawn")} == {
        UNRATED.mu
    }


def test_an_unlikely_win_counts_for_more() -> None:
    strong, weak = Rating(30 * POINT, 4 * POINT), Rating(20 * POINT, 4 * POINT)
    expected, upset = (
        after_match(PLAYERS, (strong, weak), "won"),
        after_match(PLAYERS, (strong, weak), "lost"),
    )
    assert upset[1].mu - weak.mu > expected[0].mu - strong.mu > 0
