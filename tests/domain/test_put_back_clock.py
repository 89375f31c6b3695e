"""With a clock that was put back, no time of a match is before the stakes of its seats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.days import day_of
from pgs.domain.matches import MatchDecision, MatchWithSeats, close_alone, end, start
from pgs.domain.payouts import record_money
from pgs.domain.seats import confirm, no_earlier
from pgs.domain.settlement_retries import retry_at
from pgs.domain.totals import charged, settled
from tests.making import pending_seat

BOOKED = 1_800_000_000
OLDER = confirm(pending_seat(1), BOOKED - 50)
NEWER = confirm(pending_seat(2), BOOKED)


@pytest.mark.parametrize(
    ("now", "at"), [(BOOKED - 1, BOOKED), (BOOKED, BOOKED), (BOOKED + 1, BOOKED + 1), (0, BOOKED)]
)
def test_the_latest_confirmation_is_the_earliest_time(now: int, at: int) -> None:
    assert no_earlier(now, OLDER, NEWER) == no_earlier(now, NEWER, OLDER) == at


def test_without_a_confirmed_stake_no_time_is_too_early() -> None:
    assert no_earlier(5) == no_earlier(5, pending_seat(1)) == 5


@pytest.mark.parametrize(("now", "at"), [(BOOKED - 9, BOOKED), (BOOKED + 9, BOOKED + 9)])
def test_start_end_and_payment_of_a_match_are_no_earlier_than_its_seats(now: int, at: int) -> None:
    started = start(OLDER, NEWER, "mat_1", "{}", now)
    ended = end(started, MatchDecision("ended", "p1", "completed"), now)
    paid = record_money(ended, now)
    assert (started.match.started_at, ended.match.ended_at) == (at, at)
    for record in (started, ended, paid):
        assert {seat.updated_at for seat in record.seats} == {at}
    # The time of the next try comes from the clock as it is now.
    assert ended.match.due_at == retry_at(now, now)


@pytest.mark.parametrize(("now", "at"), [(BOOKED - 9, BOOKED), (BOOKED + 9, BOOKED + 9)])
def test_a_seat_that_is_closed_alone_ends_no_earlier_than_it_was_booked(now: int, at: int) -> None:
    closed = close_alone(NEWER, "mat_1", "no_opponent", now)
    (seat,) = record_money(closed, now).seats
    assert (closed.match.ended_at, seat.ended_at, seat.updated_at) == (at, at, at)


times = st.integers(BOOKED - 200_000, BOOKED + 200_000)


@given(times, times, times, times, st.sampled_from(["p1", None]))
def test_no_match_is_decided_on_a_day_before_its_seats_are_booked(
    one: int, two: int, ended_at: int, paid_at: int, winner: str | None
) -> None:
    """The rule that makes days final depends on it."""
    seats = confirm(pending_seat(1), one), confirm(pending_seat(2), two)
    running = start(*seats, "mat_1", "{}", max(one, two))
    decided = end(running, MatchDecision("ended", winner, "completed"), ended_at)
    record: MatchWithSeats = record_money(decided, paid_at)
    (of_match, _), *of_seats = settled(record)
    assert of_match.day >= max(day_of(one), day_of(two))
    assert [key for key, _ in of_seats] == [charged(seat)[0] for seat in seats]
