"""The totals of a day, game and tier: what matches and seats add, and to which day."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.days import day_of, format_day, month_of, parse_day, start_of
from pgs.domain.matches import MatchDecision, MatchWithSeats, close_alone, end, start
from pgs.domain.payouts import record_money
from pgs.domain.seats import Seat, confirm
from pgs.domain.totals import Change, Totals, TotalsKey, charged, settled
from tests.domain.stakes import prizes_and_stakes
from tests.making import pending_seat, running_match

MIDNIGHT = 1_798_761_600  # 1 January 2027: the end of a day, a month and a year
DAY = day_of(MIDNIGHT)

WON = MatchDecision("ended", "p1", "completed")
LOST = MatchDecision("ended", "p2", "completed")
DRAWN = MatchDecision("ended", None, "completed")
NO_CONTEST = MatchDecision("no_contest", None, "both_absent")


def _totals(changes: Iterable[Change]) -> dict[TotalsKey, Totals]:
    """Return the rows that the changes add up to."""
    rows: dict[TotalsKey, Totals] = defaultdict(Totals)
    for key, change in changes:
        rows[key] = rows[key] + change
    return rows


def _match(
    decision: MatchDecision,
    confirmed: tuple[int, int],
    ended_at: int,
    stakes: tuple[int, int] = (100, 100),
    prize: int = 180,
    **seat: object,
) -> MatchWithSeats:
    """Return a match whose money is recorded a day after its end."""
    one, two = (
        confirm(
            pending_seat(number, stake_usd_cents=stake, prize_usd_cents=prize, **seat), confirmed_at
        )
        for number, (stake, confirmed_at) in enumerate(zip(stakes, confirmed, strict=True), start=1)
    )
    running = start(one, two, "mat_1", "{}", max(confirmed))
    return record_money(end(running, decision, ended_at), ended_at + 86_400)


def _of_day(day: int, **figures: int) -> Change:
    return TotalsKey(day, "reversi", "bronze"), Totals(**figures)


def test_totals_are_added_field_by_field() -> None:
    one, other = (Totals(*(base + n for n in range(13))) for base in (1, 100))
    assert msgspec.structs.astuple(one + other) == tuple(101 + 2 * n for n in range(13))
    assert one + Totals() == one


def test_a_confirmed_stake_counts_on_the_day_of_its_confirmation() -> None:
    last, first = (
        confirm(pending_seat(1, stake_usd_cents=123), at) for at in (-1 + MIDNIGHT, MIDNIGHT)
    )
    assert charged(last) == _of_day(DAY - 1, seats=1, seat_stakes_usd_cents=123)
    assert charged(first) == _of_day(DAY, seats=1, seat_stakes_usd_cents=123)


def test_a_won_match_counts_on_the_day_of_its_end_and_a_seat_on_the_day_of_its_stake() -> None:
    # Confirmed on the last day of the year before, and at its end; decided after midnight.
    record = _match(WON, (MIDNIGHT - 86_400, MIDNIGHT - 1), MIDNIGHT, (150, 110), 200)
    assert list(settled(record)) == [
        _of_day(
            DAY,
            matches=1,
            match_seats=2,
            match_stakes_usd_cents=260,
            match_payouts_usd_cents=200,
            match_rake_usd_cents=60,
        ),
        _of_day(DAY - 1, seat_payouts_usd_cents=150),
        _of_day(DAY - 1, seat_payouts_usd_cents=50, seat_rake_usd_cents=60),
    ]
    assert format_day(DAY - 1) == "20261231"
    assert month_of(DAY) == month_of(DAY - 1) + 1


def test_a_match_decided_in_the_last_second_of_a_day_counts_on_that_day() -> None:
    ((key, _), *_rest) = settled(_match(WON, (MIDNIGHT - 9, MIDNIGHT - 5), MIDNIGHT - 1))
    assert key.day == DAY - 1


def test_the_day_on_which_the_money_is_recorded_does_not_count() -> None:
    record = _match(DRAWN, (MIDNIGHT, MIDNIGHT), MIDNIGHT)
    late = record_money(record, MIDNIGHT + 5 * 86_400)
    assert list(settled(late)) == list(settled(record))
    assert {key.day for key, _ in settled(late)} == {DAY}


@pytest.mark.parametrize(
    ("decision", "counts"),
    [(DRAWN, {"matches": 1}), (NO_CONTEST, {"no_contests": 1})],
    ids=["drawn", "no contest"],
)
def test_a_match_without_a_winner_refunds_both_stakes(
    decision: MatchDecision, counts: dict[str, int]
) -> None:
    record = _match(decision, (MIDNIGHT - 1, MIDNIGHT), MIDNIGHT + 9, (150, 110))
    assert list(settled(record)) == [
        _of_day(
            DAY,
            **counts,
            match_seats=2,
            match_stakes_usd_cents=260,
            match_refunds_usd_cents=260,
        ),
        _of_day(DAY - 1, seats_refunded=1, seat_refunds_usd_cents=150),
        _of_day(DAY, seats_refunded=1, seat_refunds_usd_cents=110),
    ]


def test_a_seat_without_an_opponent_counts_as_a_no_contest_with_one_seat() -> None:
    waiting = confirm(pending_seat(1), MIDNIGHT - 1)
    record = record_money(close_alone(waiting, "mat_1", "no_opponent", MIDNIGHT + 300), MIDNIGHT)
    assert list(settled(record)) == [
        _of_day(
            DAY,
            no_contests=1,
            match_seats=1,
            match_stakes_usd_cents=100,
            match_refunds_usd_cents=100,
        ),
        _of_day(DAY - 1, seats_refunded=1, seat_refunds_usd_cents=100),
    ]


def test_each_game_and_tier_has_a_row_of_its_own() -> None:
    record = _match(WON, (MIDNIGHT, MIDNIGHT), MIDNIGHT, game_id="chess", tier_id="gold")
    keys = {key for key, _ in [*map(charged, record.seats), *settled(record)]}
    assert keys == {TotalsKey(DAY, "chess", "gold")}


def test_a_seat_or_a_match_without_a_time_is_not_counted() -> None:
    with pytest.raises(ValueError, match="sea_001 has no money to count yet"):
        charged(pending_seat(1))
    with pytest.raises(ValueError, match="sea_001 has no money to count yet"):
        list(settled(running_match()))


def test_a_row_cannot_tell_an_unpaid_match_from_a_won_one_so_it_counts_recorded_money_only() -> (
    None
):
    """Until its money is recorded, a match adds nothing: only its charges are open."""
    record = running_match((150, 110), 200)
    row = _totals(map(charged, record.seats))[TotalsKey(0, "reversi", "bronze")]
    assert row == Totals(seats=2, seat_stakes_usd_cents=260)


moments = st.integers(MIDNIGHT - 40 * 86_400, MIDNIGHT + 40 * 86_400) | st.sampled_from(
    [start_of(DAY + shift) + edge for shift in (-31, -1, 0, 1, 31) for edge in (-1, 0, 1)]
)


@st.composite
def played(draw: st.DrawFn) -> tuple[tuple[Seat, ...], MatchWithSeats | None]:
    """Return the seats of a match with the match, or None while its money is open."""
    prize, stakes = draw(prizes_and_stakes())
    times = sorted(draw(st.tuples(moments, moments, moments)))
    place = {
        "game_id": draw(st.sampled_from(["chess", "reversi"])),
        "tier_id": draw(st.sampled_from(["bronze", "gold"])),
    }
    decision = draw(st.sampled_from([WON, LOST, DRAWN, NO_CONTEST, None]))
    if decision is None:  # a seat that found no opponent
        waiting = confirm(pending_seat(1, stake_usd_cents=stakes[0], **place), times[0])
        record = record_money(close_alone(waiting, "mat_1", "no_opponent", times[2]), times[2] + 9)
    else:
        record = _match(decision, (times[0], times[1]), times[2], stakes, prize, **place)
    return record.seats, record if draw(st.booleans()) else None


@given(st.lists(played(), max_size=12))
def test_in_every_row_stakes_equal_payouts_refunds_rake_and_open_stakes(
    matches: list[tuple[tuple[Seat, ...], MatchWithSeats | None]],
) -> None:
    records = [record for _, record in matches if record is not None]
    seats = [seat for of, _ in matches for seat in of]
    rows = _totals(
        [*map(charged, seats), *(change for record in records for change in settled(record))]
    )
    for key, row in rows.items():
        assert row.match_stakes_usd_cents == (
            row.match_payouts_usd_cents + row.match_refunds_usd_cents + row.match_rake_usd_cents
        )
        open_stakes = row.seat_stakes_usd_cents - (
            row.seat_payouts_usd_cents + row.seat_refunds_usd_cents + row.seat_rake_usd_cents
        )
        paid = {id(seat) for record in records for seat in record.seats}
        booked = [seat for seat in seats if _is_of(key, seat, seat.confirmed_at)]
        assert open_stakes == sum(seat.stake_usd_cents for seat in booked if id(seat) not in paid)
        assert (row.seats, row.seat_stakes_usd_cents) == (
            len(booked),
            sum(seat.stake_usd_cents for seat in booked),
        )
        refunded = [seat for seat in booked if id(seat) in paid and seat.stake_status == "refunded"]
        assert (row.seats_refunded, row.seat_refunds_usd_cents) == (
            len(refunded),
            sum(seat.stake_usd_cents for seat in refunded),
        )
        decided = [each for each in records if _is_of(key, each.seats[0], each.match.ended_at)]
        assert row.matches == sum(each.match.status == "ended" for each in decided)
        assert row.no_contests == len(decided) - row.matches
        assert row.match_seats == sum(len(each.seats) for each in decided)
        assert row.match_payouts_usd_cents == sum(
            seat.payout_usd_cents or 0 for each in decided for seat in each.seats
        )
        assert row.match_rake_usd_cents == sum(
            seat.rake_usd_cents or 0 for each in decided for seat in each.seats
        )
    _check_both_views(rows, records)


def _is_of(key: TotalsKey, seat: Seat, at: int | None) -> bool:
    assert at is not None
    assert parse_day(format_day(day_of(at))) == day_of(at)
    return key == TotalsKey(at // 86_400, seat.game_id, seat.tier_id)


def _check_both_views(rows: dict[TotalsKey, Totals], records: list[MatchWithSeats]) -> None:
    """Check that over all days, both views add up to the same money."""
    total = Totals()
    for row in rows.values():
        total = total + row
    assert total.seat_payouts_usd_cents == total.match_payouts_usd_cents
    assert total.seat_refunds_usd_cents == total.match_refunds_usd_cents
    assert total.seat_rake_usd_cents == total.match_rake_usd_cents
    assert total.match_seats == sum(len(record.seats) for record in records)
    assert total.matches + total.no_contests == len(records)
