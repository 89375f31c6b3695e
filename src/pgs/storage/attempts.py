"""Reads the log of webhook delivery attempts, and builds the statements that write it."""

from typing import Any

import msgspec

from pgs.domain.environments import Environment
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt

_FLAGS = ("delivered", "test", "resend")


class Attempt(msgspec.Struct, frozen=True):
    """One try at delivering a nudge, as it is logged.

    Times in epoch seconds. `status_code` is None when no response came. `resend`: whether this
    try sends the nudge of an earlier try again, because a member asked for it.
    """

    seq: int
    attempt_id: str
    nudge_id: str
    at: int
    try_number: int
    delivered: bool
    status_code: int | None
    duration_ms: int
    response_body: str
    match_id: str | None
    test: bool
    error: str | None
    resend: bool = False


def insert_attempt(partner_id: str, environment: Environment, attempt: Attempt) -> Stmt:
    """Return the statement that logs a try."""
    params = msgspec.structs.asdict(attempt)
    params |= {
        "partner_id": partner_id,
        "environment": environment,
        "delivered": int(attempt.delivered),
        "test": int(attempt.test),
        "resend": int(attempt.resend),
    }
    return Stmt("attempts.insert_attempt", params, 1)


async def find_attempt(
    reader: Reader, partner_id: str, environment: Environment, attempt_id: str, since: int
) -> Attempt | None:
    """Return the try with an id, if it was made after `since`."""
    row = await reader.one(
        "attempts.find_attempt",
        partner_id=partner_id,
        environment=environment,
        attempt_id=attempt_id,
        since=since,
    )
    return attempt_of(*row) if row else None


async def newest_seq(reader: Reader, partner_id: str, environment: Environment) -> int:
    """Return the sequence number of the last try that was logged, 0 before the first."""
    row = await reader.one(
        "attempts.newest_attempt", partner_id=partner_id, environment=environment
    )
    return int(row[0]) if row else 0


async def newest_test_at(
    reader: Reader, partner_id: str, environment: Environment, since: int
) -> int | None:
    """Return when the last test event was sent if that was after `since`, else None."""
    row = await reader.one(
        "attempts.newest_test", partner_id=partner_id, environment=environment, since=since
    )
    return int(row[0]) if row else None


async def attempts_before(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    before: int,
    since: int,
    page_size: int,
) -> list[Attempt]:
    """Return tries after `since` with a sequence number below `before`, the newest first."""
    rows = await reader.all(
        "attempts.attempts_before",
        partner_id=partner_id,
        environment=environment,
        before=before,
        since=since,
        page_size=page_size,
    )
    return [attempt_of(*row) for row in rows]


def attempt_of(*row: Any) -> Attempt:
    """Return the try that a row holds. Its columns are the fields of `Attempt`, in their order."""
    fields = dict(zip(Attempt.__struct_fields__, row, strict=True))
    return Attempt(**fields | {name: bool(fields[name]) for name in _FLAGS})


async def oldest_attempts(
    reader: Reader, until: int, page_size: int
) -> list[tuple[str, Environment, int]]:
    """Return the highest sequence number of old tries, for each partner and environment.

    Only the `page_size` oldest of all tries up to `until` are examined.
    """
    rows = await reader.all("attempts.oldest_attempts", until=until, page_size=page_size)
    return [(partner_id, environment, seq) for partner_id, environment, seq in rows]


async def last_old_attempt(
    reader: Reader, *, partner_id: str, environment: Environment, until: int, page_size: int
) -> int | None:
    """Return the highest sequence number of tries up to `until`, or None without such a try.

    It looks only at the `page_size` oldest tries of the partner and environment.
    """
    row = await reader.one(
        "attempts.last_old_attempt",
        partner_id=partner_id,
        environment=environment,
        until=until,
        page_size=page_size,
    )
    return row[0] if row else None


def delete_old_attempts(partner_id: str, environment: Environment, seq: int, until: int) -> Stmt:
    """Return the statement that removes tries of `until` or earlier with at most this `seq`."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "seq": seq,
        "until": until,
    }
    return Stmt("attempts.delete_old_attempts", params)
