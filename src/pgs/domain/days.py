"""UTC days and months, and the rule that says when a day is final.

A day is the number of days since 1 January 1970, a month the number of months since then; earlier
ones are negative. On the wire a day is text, `yyyymmdd`, and a month `yyyymm`.
"""

import re
from datetime import date
from typing import Final

DAY_S: Final = 86_400
"""Scale of time: a day has this many seconds. Unix time has no leap seconds, so all days are
equally long."""

FINAL_AFTER_S: Final = 1800
"""Seconds from a day's end until the day can be final, as the interface promises. The money of a
match that ends at midnight is usually recorded by then."""

RANGE_MAX_DAYS: Final = 92
"""Days that one call may cover, both ends counted, as the interface promises: a quarter."""

EARLIEST_DAY: Final = -719_162
"""Time before which no match was played, as the number of a day: 1 January of the year 1, the first
day that Python knows. A search for all unbilled days begins there."""

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY: Final = re.compile(r"[0-9]{8}", re.ASCII)
_MONTH: Final = re.compile(r"[0-9]{6}", re.ASCII)


def day_of(at: int) -> int:
    """Return the day on which a moment lies."""
    return at // DAY_S


def start_of(day: int) -> int:
    """Return the first second of a day, in epoch seconds."""
    return day * DAY_S


def parse_day(text: str) -> int | None:
    """Return the day that a text names, or None if the calendar has no such day."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:])).toordinal() - _EPOCH
    except ValueError:
        return None


def format_day(day: int) -> str:
    """Return a day as text, `yyyymmdd`."""
    return date.fromordinal(_EPOCH + day).isoformat().replace("-", "")


def parse_month(text: str) -> int | None:
    """Return the month that a text names, or None if the calendar has no such month."""
    first = parse_day(f"{text}01") if _MONTH.fullmatch(text) else None
    return None if first is None else month_of(first)


def format_month(month: int) -> str:
    """Return a month as text, `yyyymm`."""
    return format_day(first_day(month))[:6]


def month_of(day: int) -> int:
    """Return the month in which a day lies."""
    found = date.fromordinal(_EPOCH + day)
    return (found.year - 1970) * 12 + found.month - 1


def first_day(month: int) -> int:
    """Return the first day of a month."""
    return date(1970 + month // 12, month % 12 + 1, 1).toordinal() - _EPOCH


def last_day(month: int) -> int:
    """Return the last day of a month."""
    return first_day(month + 1) - 1


def last_final_day(now: int, first_open_day: int | None) -> int:
    """Return the newest final day: this day and every day before it are final.

    `first_open_day`: the first day with a booked seat whose money is not recorded, or None. The day
    on which a match was decided needs no check of its own: that day is never before the days on
    which the match's seats were booked. So while the match's money is not recorded, the day of the
    decision is not final either.
    """
    ended = day_of(now - FINAL_AFTER_S) - 1
    return ended if first_open_day is None else min(ended, first_open_day - 1)
