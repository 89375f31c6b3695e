"""What became of the seats of some days: `GET /partner/seat-summary`, and the same for members.

A seat is booked on the day on which its stake was confirmed.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from pgs.domain.days import format_day
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.totals import Totals
from pgs.http.account.callers import by_key, by_path
from pgs.http.admin.endpoints import admin_read
from pgs.http.api.day_ranges import RANGE_ERRORS, RANGE_QUERY
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.lists import AccountCall
from pgs.http.billing.final_ranges import final_range, too_expensive
from pgs.storage.totals import totals_by_tier

SEATS_MAX: Final = 200_000
"""Seats that one summary may cover, as the interface promises."""


class SeatFigures(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Seats that were booked, and their money in US cents. `confirmed` includes refunded seats.

    The stakes equal the sum of payouts, refunds, rake and open stakes. The payouts are what was
    paid out of these seats' stakes, even if the player of another seat received the money.
    """

    seats: int
    confirmed: int
    refunded: int
    stakes_usd_cents: int
    payouts_usd_cents: int
    refunds_usd_cents: int
    rake_usd_cents: int
    open_usd_cents: int


class SeatRow(SeatFigures, frozen=True, rename="camel", kw_only=True):
    """The figures of a game and a tier."""

    game_id: str
    tier_id: str


class SeatSummary(msgspec.Struct, frozen=True, rename="camel"):
    """The seats booked from `from` to `to`. `latest_day`: the last final day."""

    environment: str
    from_: str = msgspec.field(name="from")
    to: str
    latest_day: str
    rows: list[SeatRow]
    totals: SeatFigures


async def read_summary(call: AccountCall, environment: Environment) -> Answer:
    """Return the figures of each game and tier."""
    ranged = await final_range(call, environment)
    if isinstance(ranged, Refusal):
        return ranged
    (first, last), latest = ranged
    partner_id, reader = call.principal.account.partner_id, call.services.parts.database.reader
    by_tier = await totals_by_tier(reader, partner_id, environment, first, last)
    in_all = sum(by_tier.values(), Totals())
    if in_all.seats > SEATS_MAX:
        return too_expensive("seats", SEATS_MAX)
    return SeatSummary(
        environment=environment,
        from_=format_day(first),
        to=format_day(last),
        latest_day=format_day(latest),
        rows=[
            SeatRow(game_id=game_id, tier_id=tier_id, **_figures(totals))
            for (game_id, tier_id), totals in by_tier.items()
            if totals.seats
        ],
        totals=SeatFigures(**_figures(in_all)),
    )


def _figures(totals: Totals) -> dict[str, int]:
    settled = (
        totals.seat_payouts_usd_cents + totals.seat_refunds_usd_cents + totals.seat_rake_usd_cents
    )
    return {
        "seats": totals.seats,
        "confirmed": totals.seats,
        "refunded": totals.seats_refunded,
        "stakes_usd_cents": totals.seat_stakes_usd_cents,
        "payouts_usd_cents": totals.seat_payouts_usd_cents,
        "refunds_usd_cents": totals.seat_refunds_usd_cents,
        "rake_usd_cents": totals.seat_rake_usd_cents,
        "open_usd_cents": totals.seat_stakes_usd_cents - settled,
    }


_ERRORS = (*RANGE_ERRORS, "day_not_final", "range_too_expensive", "settlement_unavailable")
_OUTAGE: Final = "settlement_unavailable"
_SUMMARY: Final = "What became of the seats that were booked"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/seat-summary",
        handler=by_key(read_summary),
        response=SeatSummary,
        query=RANGE_QUERY,
        errors=_ERRORS,
        outage=_OUTAGE,
        summary=_SUMMARY,
    ),
    replace(
        admin_read(
            "seat-summary/{env}",
            by_path(read_summary),
            SeatSummary,
            _SUMMARY,
            query=RANGE_QUERY,
            errors=_ERRORS,
        ),
        outage=_OUTAGE,
    ),
)
