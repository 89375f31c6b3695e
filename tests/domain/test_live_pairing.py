"""The rule `live.v1`, compared with a slow and plain search for pairs."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import live_pairing as live
from pgs.domain.live_pairing import Pair, Waiting, explain, pair_wave
from pgs.domain.ratings import POINT, Rating
from tests.making import seat

NOW = 1000


def waiting(
    number: int,
    points: float = 25,
    waited: int = 0,
    player: str | None = None,
    last: str | None = None,
    left: int = 60,
) -> Waiting:
    one = seat(
        number,
        environment="live",
        player_id=player or f"p{number}",
        confirmed_at=NOW - waited,
        due_at=NOW + left,
    )
    return Waiting(one, Rating(round(points * POINT), 8 * POINT, last_opponent=last))


def numbers(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    return [(pair.older.seat.seq, pair.newer.seat.seq) for pair in pairs]


def cost_of(one: Waiting, two: Waiting) -> int | None:
    """Return the cost of a pair, or None when it is not acceptable."""
    if one.seat.player_id == two.seat.player_id:
        return None
    waits = [NOW - (seat.confirmed_at or 0) for seat in (one.seat, two.seat)]
    strain = abs(one.rating.mu - two.rating.mu)
    if (
        one.rating.last_opponent == two.seat.player_id
        or two.rating.last_opponent == one.seat.player_id
    ):
        strain += live.REMATCH_PENALTY
    if strain > min(live.cap(wait) for wait in waits):
        return None
    return strain - sum(live.allowance(wait) for wait in waits)


def plainly(line: Sequence[Waiting]) -> list[tuple[int, int]]:
    """Return the pairs of a plain search: take the cheapest of all pairs, and begin again."""
    left = sorted(line, key=lambda one: one.seat.seq)
    pairs: list[tuple[int, int]] = []
    while True:
        offers = [
            (cost, one.seat.seq, two.seat.seq)
            for one in left
            for two in left
            if one.seat.seq < two.seat.seq and (cost := cost_of(one, two)) is not None
        ]
        if not offers:
            return pairs
        pair = min(offers)[1:]
        pairs.append(pair)
        left = [one for one in left if one.seat.seq not in pair]


@st.composite
def crowds(draw: st.DrawFn, most: int) -> list[Waiting]:
    names = st.sampled_from("abcdef")
    return [
        waiting(
            number,
            draw(st.sampled_from([10, 20, 23.5, 25, 25.5, 27, 29, 31, 40])),
            draw(st.sampled_from([0, 0, 1, 5, 30, 120, 299])),
            draw(names),
            draw(st.none() | names),
            draw(st.sampled_from([-1, 0, 1, 60])),
        )
        for number in draw(st.permutations(range(draw(st.integers(0, most)))))
    ]


@given(crowds(live.NEIGHBOURS + 1))
def test_in_a_small_pool_the_pairs_are_those_of_the_plain_search(
    crowd: list[Waiting],
) -> None:
    assert numbers(pair_wave(crowd, NOW)) == plainly(
        [one for one in crowd if (one.seat.due_at or 0) > NOW]
    )


@given(crowds(40))
def test_in_any_pool_every_pair_is_acceptable_and_nobody_is_in_two(crowd: list[Waiting]) -> None:
    pairs = pair_wave(crowd, NOW)
    seats = [one.seat.seat_id for pair in pairs for one in (pair.older, pair.newer)]
    assert len(set(seats)) == len(seats)
    costs = []
    for pair in pairs:
        assert pair.older.seat.seq < pair.newer.seat.seq
        assert pair.older.seat.player_id != pair.newer.seat.player_id
        assert min(one.seat.due_at or 0 for one in (pair.older, pair.newer)) > NOW
        assert pair.gap == abs(pair.older.rating.mu - pair.newer.rating.mu)
        cost = cost_of(pair.older, pair.newer)
        assert cost is not None
        costs.append((cost, pair.older.seat.seq))
        assert 1 <= pair.candidates <= 2 * live.SCAN
    assert costs == sorted(costs)


@given(crowds(40), st.randoms(use_true_random=False))
def test_the_order_in_which_seats_are_handed_in_makes_no_difference(
    crowd: list[Waiting], chance: object
) -> None:
    mixed = list(crowd)
    # hypothesis gives a Random, but declares less.
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert numbers(pair_wave(mixed, NOW)) == numbers(pair_wave(crowd, NOW))


def test_players_of_the_nearest_skill_are_paired() -> None:
    assert numbers(
        pair_wave([waiting(1, 25), waiting(2, 28), waiting(3, 25.5), waiting(4, 28.4)], NOW)
    ) == [(2, 4), (1, 3)]


def test_seats_of_equal_skill_are_paired_in_the_order_of_their_age() -> None:
    assert numbers(pair_wave([waiting(number) for number in (5, 3, 1, 4, 2)], NOW)) == [
        (1, 2),
        (3, 4),
    ]


def test_a_long_waiting_seat_is_paired_before_a_nearer_pair_of_newcomers() -> None:
    old, near, newcomer = waiting(1, 23, waited=60), waiting(2, 25), waiting(3, 26)
    assert numbers(pair_wave([old, near, newcomer], NOW)) == [(1, 2)]
    assert numbers(
        pair_wave([msgspec.structs.replace(old, seat=waiting(1).seat), near, newcomer], NOW)
    ) == [(2, 3)]


@pytest.mark.parametrize("waited", [0, 10, 100, 299])
def test_no_gap_is_above_the_cap_which_widens_with_waiting(waited: int) -> None:
    cap = live.cap(waited) / POINT
    assert len(pair_wave([waiting(1, 25, waited), waiting(2, 25 + cap, waited)], NOW)) == 1
    assert pair_wave([waiting(1, 25, waited), waiting(2, 25 + cap + 0.000001, waited)], NOW) == []
    assert live.cap(waited + 1) > live.cap(waited)


def test_a_long_wait_does_not_widen_the_gap_that_a_newcomer_accepts() -> None:
    assert pair_wave([waiting(1, 25, 299), waiting(2, 29.5, 9)], NOW) == []
    assert len(pair_wave([waiting(1, 25, 299), waiting(2, 29.5, 10)], NOW)) == 1


def test_an_opponent_slightly_further_away_is_preferred_to_the_last_one() -> None:
    last, other = waiting(2, 25.5), waiting(3, 27)
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last, other], NOW)) == [(2, 3)]
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last, waiting(3, 22.9)], NOW)) == [(1, 3)]
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last], NOW)) == [(1, 2)]
    assert numbers(
        pair_wave([waiting(1, 25), waiting(2, 25.5, last="p1"), waiting(3, 22.9)], NOW)
    ) == [(1, 3)]


def test_two_who_have_just_played_wait_when_their_gap_is_wide() -> None:
    one, two = waiting(1, 25, last="p2"), waiting(2, 27.1, last="p1")
    assert pair_wave([one, two], NOW) == []
    assert len(pair_wave([waiting(1, 25, 2, last="p2"), waiting(2, 27.1, 2, last="p1")], NOW)) == 1


def test_nobody_is_paired_with_themself_however_many_seats_they_hold() -> None:
    mine = [waiting(number, player="alice") for number in range(1, 3000)]
    assert pair_wave(mine, NOW) == []
    assert numbers(pair_wave([*mine, waiting(3000, 25.5)], NOW)) == [(1, 3000)]
    assert numbers(pair_wave([*mine, waiting(3000, 24.5)], NOW)) == [(1, 3000)]


def test_almost_all_of_5000_waiting_seats_are_paired() -> None:
    crowd = [
        waiting(number, 15 + number * 7919 % 20000 / 1000, number % 60) for number in range(5000)
    ]
    pairs = pair_wave(crowd, NOW)
    assert len(pairs) > 0.9 * 2500
    assert max(pair.gap for pair in pairs) < POINT // 5


def test_the_explanation_says_why_two_seats_were_paired() -> None:
    older, newer = waiting(1, 25, waited=40), waiting(2, 27.256, waited=6)
    (pair,) = pair_wave(
        [msgspec.structs.replace(older, waves=38), newer, waiting(3, 26, player="p1")], NOW
    )
    assert explain(pair, NOW) == {
        "rule": "live.v1",
        "waitedSeconds": 40,
        "ratingGap": 2.26,
        "allowance": 2.3,
        "waves": 38,
        "candidates": 1,
    }
