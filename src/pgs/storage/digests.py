"""Hashes over the rows of the results feed, by the day on which a row last changed.

Only rows whose money is recorded count. On a final day, these are all rows.
"""

import hashlib

from pgs.domain.days import start_of
from pgs.domain.environments import Environment
from pgs.storage.reader import Reader


async def count_changed(
    reader: Reader, partner_id: str, environment: Environment, first_day: int, last_day: int
) -> int:
    """Return how many rows had their last change in a range of days, both ends included."""
    row = await reader.one(
        "results.count_changed",
        partner_id=partner_id,
        environment=environment,
        since=start_of(first_day),
        until=start_of(last_day + 1),
    )
    count: int = row[0] if row else 0
    return count


async def digests_by_day(
    reader: Reader, partner_id: str, environment: Environment, first_day: int, last_day: int
) -> list[tuple[int, int, str]]:
    """Return each day with the number of its rows and their SHA-256 in hex.

    The hash takes a line for each row, in the order of match and player. A line has the row's
    match, player, outcome, result, payout, refund and rake, separated by `|`, and ends with a line
    feed. A missing value is empty.
    """
    digests = []
    for day in range(first_day, last_day + 1):
        rows = await reader.all(
            "results.changed",
            partner_id=partner_id,
            environment=environment,
            since=start_of(day),
            until=start_of(day + 1),
        )
        sha256 = hashlib.sha256()
        for row in rows:
            sha256.update(("|".join("" if it is None else str(it) for it in row) + "\n").encode())
        digests.append((day, len(rows), sha256.hexdigest()))
    return digests
