"""`GET /partner/results/digest`: a hash of each day's rows of the feed.

A partner who kept every row computes the same hashes. A hash that differs shows the day on which a
row was missed. `docs/billing.md` has a function that computes them.
"""

from typing import Final

import msgspec

from pgs.domain.days import format_day
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.http.account.callers import by_key
from pgs.http.api.day_ranges import RANGE_ERRORS, RANGE_QUERY
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.lists import AccountCall
from pgs.http.billing.final_ranges import final_range, too_expensive
from pgs.storage.bulk import read_in_bulk
from pgs.storage.digests import count_changed, digests_by_day

ROWS_MAX: Final = 200_000
"""Rows that one call may hash, as many as a seat summary may cover: about a second of reading."""


class DayDigest(msgspec.Struct, frozen=True, rename="camel"):
    """The number of rows whose latest change was on a day, and the SHA-256 over them, in hex."""

    day: str
    rows: int
    sha256: str


class Digest(msgspec.Struct, frozen=True, rename="camel"):
    """The digest of every day asked for, days without rows included."""

    days: list[DayDigest]


async def read_digest(call: AccountCall, environment: Environment) -> Answer:
    """Return the digests of final days. They are computed on a thread, one call at a time."""
    ranged = await final_range(call, environment)
    if isinstance(ranged, Refusal):
        return ranged
    (first, last), _ = ranged
    partner_id, database = call.principal.account.partner_id, call.services.parts.database
    if await count_changed(database.reader, partner_id, environment, first, last) > ROWS_MAX:
        return too_expensive("rows", ROWS_MAX)
    found = await read_in_bulk(
        database,
        lambda reader: digests_by_day(reader, partner_id, environment, first, last),
        database.digest_limit,
    )
    return Digest([DayDigest(format_day(day), rows, sha256) for day, rows, sha256 in found])


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/results/digest",
        handler=by_key(read_digest),
        response=Digest,
        query=RANGE_QUERY,
        errors=(*RANGE_ERRORS, "day_not_final", "range_too_expensive"),
        summary="A hash of each day's rows of the results feed",
    ),
)
