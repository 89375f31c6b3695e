"""The days that a call asks for, by its query parameters `from` and `to`."""

from collections.abc import Mapping

from pgs.actors.messages.seats import FinaliseDays
from pgs.domain.days import RANGE_MAX_DAYS, format_day, parse_day
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.http.api.lists import AccountCall

Range = tuple[int, int]
"""The first and the last day, both included."""

RANGE_QUERY = frozenset({"from", "to"})

RANGE_ERRORS = ("missing_parameter", "malformed_day", "range_backwards", "range_too_wide")


def parse_range(query: Mapping[str, str]) -> Range | Refusal:
    """Return the days from `from` to `to`, or the first refusal that applies."""
    for name in ("from", "to"):
        if not query.get(name):
            return refuse("missing_parameter", parameter=name)
    days = []
    for name in ("from", "to"):
        day = parse_day(query[name])
        if day is None:
            return refuse("malformed_day", parameter=name)
        days.append(day)
    first, last = days
    if first > last:
        return refuse("range_backwards")
    if last - first >= RANGE_MAX_DAYS:
        return refuse("range_too_wide", maxRangeDays=RANGE_MAX_DAYS)
    return first, last


def too_expensive(what: str, most: int) -> Refusal:
    """Return the refusal of a range that has more of something than one call reads."""
    return refuse("range_too_expensive").saying(
        f"The range covers more than {most:,} {what}, the most that one call reads. "
        "Ask for a shorter one."
    )


async def final_range(call: AccountCall, environment: Environment) -> tuple[Range, int] | Refusal:
    """Return the days that a call asks for and the last final day; they end no later than it.

    Raises what asking an actor raises.
    """
    wanted = parse_range(call.query)
    if isinstance(wanted, Refusal):
        return wanted
    partner = call.services.directory.partner(call.principal.account.partner_id)
    latest = (await partner.seats(environment).ask(FinaliseDays())).day
    if wanted[1] > latest:
        return refuse("day_not_final", latestDay=format_day(latest))
    return wanted, latest
