"""UTC days, written `yyyymmdd`."""

import re
from datetime import date
from typing import Final

DAY_SECONDS: Final = 86_400
"""Scale of days: seconds in a day. Unix time has no leap seconds, so all days are equally long."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = re.compile(r"[0-9]{8}", re.ASCII)


def day_of(epoch_seconds: int) -> str:
    """Return the UTC day of a time, as `yyyymmdd`."""
    day = date.fromordinal(_EPOCH + epoch_seconds // DAY_SECONDS)
    return f"{day.year:04}{day.month:02}{day.day:02}"


def parse_day(text: str) -> int | None:
    """Return the epoch second at which the UTC day `text` begins, or None.

    None means that `text` is not a real date written `yyyymmdd`. `strptime` would also accept seven
    digits and digits of other scripts.
    """
    if _DAY.fullmatch(text) is None:
        return None
    try:
        day = date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return None
    return (day.toordinal() - _EPOCH) * DAY_SECONDS
