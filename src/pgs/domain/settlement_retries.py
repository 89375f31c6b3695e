"""When settlement is asked again about a stake or a payout that it has not decided."""

RETRY_MIN_S = 5
"""Seconds until settlement is first asked again: few, because most outages are short."""

RETRY_MAX_S = 60
"""Seconds that pass at most between two requests for the same stake or payout. Money that is owed
should not wait longer than a minute after an outage. More time passes while the breaker is open, or
while the settings do not name the server that holds the stake."""

LOT_MAX = 255
"""Scale of the random number that spreads retries. The number is one byte, so it goes from 0 to
this value."""


def retry_at(since: int, now: int, lot: int = 0) -> int:
    """Return when settlement is asked again about what has been open since `since`.

    The wait is a quarter of the time since then, but at least `RETRY_MIN_S` and at most
    `RETRY_MAX_S`. `lot`, a random number from 0 to `LOT_MAX`, shortens it by up to a quarter, but
    not below the minimum. So seats that failed together are not all retried in the same second.
    """
    wait_s = max(RETRY_MIN_S, min(RETRY_MAX_S, (now - since) // 4))
    return now + max(RETRY_MIN_S, wait_s - wait_s * lot // (4 * LOT_MAX))
