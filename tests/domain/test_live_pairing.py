"""The rule `live.v1`, compared with a slow and plain search for pairs."""

from collections.abc import Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from pgs.domain import live_pairing as live
from pgs.domain.live_pairing import Pair, WaitingSeat, certain_gap, explain, pair_wave
from pgs.domain.ratings import POINT, UNRATED, Rating, after_match
from tests.making import seat

NOW = 1000


def waiting(
    number: int,
    points: float = 25,
    waited: int = 0,
    player: str | None = None,
    last: str | None = None,
    left: int = 60,
    sigma: float = 0,
) -> WaitingSeat:
    one = seat(
        number,
        environment="live",
        player_id=player or f"p{number}",
        confirmed_at=NOW - waited,
        due_at=NOW + left,
    )
    return WaitingSeat(one, Rating(round(points * POINT), round(sigma * POINT), last_opponent=last))


def numbers(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    return [(pair.older.seat.seq, pair.newer.seat.seq) for pair in pairs]


def cost_of(one: WaitingSeat, two: WaitingSeat, *, alone: bool = False) -> int | None:
    """Return the cost of a pair, or None when it is not acceptable. `alone`: nobody else waits."""
    if one.seat.player_id == two.seat.player_id:
        return None
    waits = [NOW - (seat.confirmed_at or 0) for seat in (one.seat, two.seat)]
    strain = certain_gap(one.rating, two.rating)
    if not alone and (
        one.rating.last_opponent == two.seat.player_id
        or two.rating.last_opponent == one.seat.player_id
    ):
        strain += live.REMATCH_PENALTY
    if strain > min(live.cap(wait) for wait in waits):
        return None
    return strain - sum(live.allowance(wait) for wait in waits)


def plainly(line: Sequence[WaitingSeat]) -> list[tuple[int, int]]:
    """Return the pairs of a plain search: take the cheapest of all pairs, and begin again."""
    newest_first = sorted(line, key=lambda one: -one.seat.seq)
    left = list({one.seat.player_id: one for one in newest_first}.values())
    alone = len(left) == 2
    pairs: list[tuple[int, int]] = []
    while True:
        offers = [
            (cost, one.seat.seq, two.seat.seq)
            for one in left
            for two in left
            if one.seat.seq < two.seat.seq and (cost := cost_of(one, two, alone=alone)) is not None
        ]
        if not offers:
            return pairs
        pair = min(offers)[1:]
        pairs.append(pair)
        left = [one for one in left if one.seat.seq not in pair]


@st.composite
def crowds(draw: st.DrawFn, most: int) -> list[WaitingSeat]:
    names = st.sampled_from("abcdef")
    return [
        waiting(
            number,
            draw(st.sampled_from([10, 20, 23.5, 25, 25.5, 27, 29, 31, 40])),
            draw(st.sampled_from([0, 0, 1, 5, 30, 120, 299])),
            draw(names),
            draw(st.none() | names),
            draw(st.sampled_from([-1, 0, 1, 60])),
            draw(st.sampled_from([0, 1, 8])),
        )
        for number in draw(st.permutations(range(draw(st.integers(0, most)))))
    ]


@given(crowds(live.NEIGHBOURS + 1))
def test_in_a_small_pool_the_pairs_are_those_of_the_plain_search(
    crowd: list[WaitingSeat],
) -> None:
    assert numbers(pair_wave(crowd, NOW)) == plainly(
        [one for one in crowd if (one.seat.due_at or 0) > NOW]
    )


@given(crowds(40))
def test_in_any_pool_every_pair_is_acceptable_and_nobody_is_in_two(
    crowd: list[WaitingSeat],
) -> None:
    pairs = pair_wave(crowd, NOW)
    players = [one.seat.player_id for pair in pairs for one in (pair.older, pair.newer)]
    assert len(set(players)) == len(players)
    costs = []
    for pair in pairs:
        assert pair.older.seat.seq < pair.newer.seat.seq
        assert pair.older.seat.player_id != pair.newer.seat.player_id
        assert min(one.seat.due_at or 0 for one in (pair.older, pair.newer)) > NOW
        assert pair.gap == abs(pair.older.rating.mu - pair.newer.rating.mu)
        alone = len({one.seat.player_id for one in crowd if (one.seat.due_at or 0) > NOW}) == 2
        cost = cost_of(pair.older, pair.newer, alone=alone)
        assert cost is not None
        costs.append((cost, pair.older.seat.seq))
        assert 1 <= pair.candidates <= 2 * live.SCAN
    assert costs == sorted(costs)


@given(crowds(40), st.randoms(use_true_random=False))
def test_the_order_in_which_seats_are_handed_in_makes_no_difference(
    crowd: list[WaitingSeat], chance: Random
) -> None:
    mixed = list(crowd)
    chance.shuffle(mixed)
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


@pytest.mark.parametrize("waited", [0, 10, 20, 59])
def test_no_gap_is_above_the_cap_which_widens_with_waiting(waited: int) -> None:
    cap = live.cap(waited) / POINT
    assert len(pair_wave([waiting(1, 25, waited), waiting(2, 25 + cap, waited)], NOW)) == 1
    assert pair_wave([waiting(1, 25, waited), waiting(2, 25 + cap + 0.000001, waited)], NOW) == []
    assert live.cap(waited + 1) > live.cap(waited)


def wins(points: float) -> float:
    """Return how often a player wins against one whose exactly known rating is `points` lower."""
    model = PlackettLuce()
    ratings = [[model.rating(mu=mu, sigma=0.0001)] for mu in (25 + points, 25)]
    return float(model.predict_win(ratings)[0])


def test_after_20_s_whoever_wins_nine_of_ten_is_accepted_and_after_60_s_anybody() -> None:
    assert 0.745 < wins(live.cap(0) / POINT) < 0.755
    assert 0.895 < wins(live.cap(20) / POINT) <= 0.9
    assert pair_wave([waiting(1, -500, 59), waiting(2, 500, 59)], NOW) == []
    assert len(pair_wave([waiting(1, -500, 60), waiting(2, 500, 60)], NOW)) == 1


def test_only_the_certain_part_of_a_gap_counts() -> None:
    known, newcomer = Rating(35 * POINT, 0), msgspec.structs.replace(UNRATED, mu=25 * POINT)
    assert certain_gap(known, known) == 0
    assert certain_gap(known, Rating(25 * POINT, 0)) == 10 * POINT
    assert certain_gap(known, newcomer) == certain_gap(newcomer, known)
    assert 5 * POINT < certain_gap(known, newcomer) < 6 * POINT
    assert len(pair_wave([waiting(1, 25, sigma=8), waiting(2, 33, sigma=8)], NOW)) == 1
    assert pair_wave([waiting(1, 25), waiting(2, 33)], NOW) == []


def test_two_who_are_alone_soon_play_again_however_often_one_of_them_has_won() -> None:
    one = two = UNRATED
    for wins_so_far in range(9):
        seats = [
            msgspec.structs.replace(waiting(number), rating=rating)
            for number, rating in enumerate((one, two), start=1)
        ]
        waits = next(
            wait
            for wait in range(live.OPEN_AFTER_S + 1)
            if pair_wave([_waited(one_seat, wait) for one_seat in seats], NOW)
        )
        assert waits <= (0, 0, 5, 15, 25, 35, 40, 45, 50)[wins_so_far]
        one, two = after_match(("p1", "p2"), (one, two), "won")


def _waited(one: WaitingSeat, seconds: int) -> WaitingSeat:
    return msgspec.structs.replace(
        one, seat=msgspec.structs.replace(one.seat, confirmed_at=NOW - seconds)
    )


def test_a_player_who_is_absent_and_busy_is_reported_as_absent() -> None:
    assert live.held_back(here=False, busy=True) == "player_absent"
    assert live.held_back(here=True, busy=True) == "player_busy"
    assert live.held_back(here=True, busy=False) is None


def test_a_long_wait_does_not_widen_the_gap_that_a_newcomer_accepts() -> None:
    assert pair_wave([waiting(1, 25, 299), waiting(2, 29.5, 2)], NOW) == []
    assert len(pair_wave([waiting(1, 25, 299), waiting(2, 29.5, 3)], NOW)) == 1


def test_an_opponent_slightly_further_away_is_preferred_to_the_last_one() -> None:
    last, other = waiting(2, 25.5), waiting(3, 27)
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last, other], NOW)) == [(2, 3)]
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last, waiting(3, 22.9)], NOW)) == [(1, 3)]
    assert numbers(pair_wave([waiting(1, 25, last="p2"), last], NOW)) == [(1, 2)]
    assert numbers(
        pair_wave([waiting(1, 25), waiting(2, 25.5, last="p1"), waiting(3, 22.9)], NOW)
    ) == [(1, 3)]


def test_two_who_have_just_played_wait_while_somebody_else_waits_too() -> None:
    one, two, far = waiting(1, 25, last="p2"), waiting(2, 27.1, last="p1"), waiting(3, 60)
    assert pair_wave([one, two, far], NOW) == []
    assert len(pair_wave([one, two], NOW)) == 1
    later = [waiting(1, 25, 1, last="p2"), waiting(2, 27.1, 1, last="p1"), far]
    assert numbers(pair_wave(later, NOW)) == [(1, 2)]


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
    older, newer = waiting(1, 25, waited=40), waiting(2, 27.256, waited=6, sigma=5)
    (pair,) = pair_wave(
        [msgspec.structs.replace(older, waves=38), newer, waiting(3, 26, player="p1")], NOW
    )
    assert explain(pair, NOW, "p2") == {
        "rule": "live.v1",
        "waitedSeconds": 40,
        "ratingGap": 2.26,
        "allowance": 2.3,
        "waves": 38,
        "candidates": 1,
        "begins": "p2",
    }
