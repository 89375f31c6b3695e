"""Ranges of days that must be final, and ranges that are too expensive to read."""

from pgs.actors.messages.seats import FinaliseDays
from pgs.domain.days import format_day
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.http.api.day_ranges import Range, parse_range
from pgs.http.api.lists import AccountCall


def too_expensive(what: str, most: int) -> Refusal:
    """Return the refusal of a range that covers more of `what` than one call reads."""
    return refuse("range_too_expensive").saying(
        f"The range covers more than {most:,} {what}, the most that one call reads. "
        "Ask for a shorter one."
    )


async def final_range(call: AccountCall, environment: Environment) -> tuple[Range, int] | Refusal:
    """Return the days that a call asks for, all of which are final, and the last final day.

    Asks the seats actor, and raises the errors of that ask.
    """
    wanted = parse_range(call.query)
    if isinstance(wanted, Refusal):
        return wanted
    partner = call.services.directory.partner(call.principal.account.partner_id)
    latest = (await partner.seats(environment).ask(FinaliseDays())).day
    if wanted[1] > latest:
        return refuse("day_not_final", latestDay=format_day(latest))
    return wanted, latest
