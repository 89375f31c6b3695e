"""The days that a call asks for, by its query parameters `from` and `to`."""

from collections.abc import Mapping

from pgs.domain.days import RANGE_MAX_DAYS, parse_day
from pgs.domain.errors import Refusal, refuse

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


def parse_optional_range(query: Mapping[str, str]) -> Range | Refusal | None:
    """Return the days from `from` to `to`, None if the call names neither, or the refusal."""
    if "from" not in query and "to" not in query:
        return None
    return parse_range(query)
