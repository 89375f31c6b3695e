"""`GET /partner/usage` and `GET /partner/admin/usage/{env}`: the figures of each day's matches.

A match counts on the day on which it was decided.
"""

import msgspec

from pgs.domain.days import format_day
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.totals import Totals
from pgs.http.account.callers import by_key, by_path
from pgs.http.admin.endpoints import admin_read
from pgs.http.api.day_ranges import RANGE_ERRORS, RANGE_QUERY
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.lists import AccountCall
from pgs.http.billing.final_ranges import final_range
from pgs.storage.totals import totals_by_day


class UsageFigures(msgspec.Struct, frozen=True, rename="camel"):
    """Matches with and without a result, and their money in US cents.

    The stakes equal the sum of payouts, refunds and rake.
    """

    matches: int
    seats: int
    no_contests: int
    stakes_usd_cents: int
    payouts_usd_cents: int
    refunds_usd_cents: int
    rake_usd_cents: int


class UsageDay(UsageFigures, frozen=True, rename="camel", kw_only=True):
    """The figures of a day, `yyyymmdd` in UTC."""

    day: str


class Usage(msgspec.Struct, frozen=True, rename="camel"):
    """The figures of every day asked for, and their totals. `latest_day`: the last final day."""

    environment: str
    from_: str = msgspec.field(name="from")
    to: str
    latest_day: str
    days: list[UsageDay]
    totals: UsageFigures


async def read_usage(call: AccountCall, environment: Environment) -> Answer:
    """Return the figures of each day, days without play included."""
    ranged = await final_range(call, environment)
    if isinstance(ranged, Refusal):
        return ranged
    (first, last), latest = ranged
    partner_id, reader = call.principal.account.partner_id, call.services.parts.database.reader
    by_day = await totals_by_day(reader, partner_id, environment, first, last)
    return Usage(
        environment=environment,
        from_=format_day(first),
        to=format_day(last),
        latest_day=format_day(latest),
        days=[
            UsageDay(day=format_day(day), **_figures(by_day.get(day, Totals())))
            for day in range(first, last + 1)
        ],
        totals=UsageFigures(**_figures(sum(by_day.values(), Totals()))),
    )


def _figures(totals: Totals) -> dict[str, int]:
    return {
        "matches": totals.matches,
        "seats": totals.match_seats,
        "no_contests": totals.no_contests,
        "stakes_usd_cents": totals.match_stakes_usd_cents,
        "payouts_usd_cents": totals.match_payouts_usd_cents,
        "refunds_usd_cents": totals.match_refunds_usd_cents,
        "rake_usd_cents": totals.match_rake_usd_cents,
    }


_ERRORS = (*RANGE_ERRORS, "day_not_final")

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/usage",
        handler=by_key(read_usage),
        response=Usage,
        query=RANGE_QUERY,
        errors=_ERRORS,
        summary="What each day's matches came to",
    ),
    admin_read(
        "usage/{env}",
        by_path(read_usage),
        Usage,
        "What each day's matches came to",
        query=RANGE_QUERY,
        errors=_ERRORS,
    ),
)
