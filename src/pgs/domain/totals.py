"""The figures of a day by game and tier, from which usage, summaries and invoices are made.

A row has two groups of figures. `matches` … `match_rake_usd_cents` count the matches decided on
the day. `seats` … `seat_rake_usd_cents` count the seats whose stakes were confirmed on the day,
whenever their matches end.
"""

from collections.abc import Iterator
from operator import add

import msgspec

from pgs.domain.days import day_of
from pgs.domain.matches import MatchWithSeats
from pgs.domain.seats import Seat


class TotalsKey(msgspec.Struct, frozen=True):
    """What identifies a row: a day, a game and a tier."""

    day: int
    game_id: str
    tier_id: str


class Totals(msgspec.Struct, frozen=True):
    """Counts, and amounts in US cents. The figures of a change are added to those of the row."""

    matches: int = 0
    no_contests: int = 0
    match_seats: int = 0
    match_stakes_usd_cents: int = 0
    match_payouts_usd_cents: int = 0
    match_refunds_usd_cents: int = 0
    match_rake_usd_cents: int = 0
    seats: int = 0
    seats_refunded: int = 0
    seat_stakes_usd_cents: int = 0
    seat_payouts_usd_cents: int = 0
    seat_refunds_usd_cents: int = 0
    seat_rake_usd_cents: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Return the sum, field by field."""
        return Totals(*map(add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


Change = tuple[TotalsKey, Totals]


def charged(seat: Seat) -> Change:
    """Return what a confirmed stake adds to the day of its confirmation."""
    return _key(seat, seat.confirmed_at), Totals(
        seats=1, seat_stakes_usd_cents=seat.stake_usd_cents
    )


def settled(record: MatchWithSeats) -> Iterator[Change]:
    """Yield what a match adds to its own day and its seats' days when its money is recorded."""
    ended, seats = record.match.status == "ended", record.seats
    stakes = sum(seat.stake_usd_cents for seat in seats)
    refunds = sum(seat.refund_usd_cents or 0 for seat in seats)
    rake = sum(seat.rake_usd_cents or 0 for seat in seats)
    yield (
        _key(seats[0], record.match.ended_at),
        Totals(
            matches=int(ended),
            no_contests=int(not ended),
            match_seats=len(seats),
            match_stakes_usd_cents=stakes,
            match_payouts_usd_cents=stakes - refunds - rake,
            match_refunds_usd_cents=refunds,
            match_rake_usd_cents=rake,
        ),
    )
    for seat in seats:
        seat_refund, seat_rake = seat.refund_usd_cents or 0, seat.rake_usd_cents or 0
        yield (
            _key(seat, seat.confirmed_at),
            Totals(
                seats_refunded=int(seat.stake_status == "refunded"),
                seat_payouts_usd_cents=seat.stake_usd_cents - seat_refund - seat_rake,
                seat_refunds_usd_cents=seat_refund,
                seat_rake_usd_cents=seat_rake,
            ),
        )


def _key(seat: Seat, at: int | None) -> TotalsKey:
    if at is None:
        raise ValueError(f"{seat.seat_id} has no money to count yet")
    return TotalsKey(day_of(at), seat.game_id, seat.tier_id)
