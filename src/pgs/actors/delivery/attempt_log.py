"""Records the outcome of a try: in the attempt log, and in the count of failures in a row."""

import msgspec
from msgspec.structs import replace

from pgs.actors.activity_events import tell_of_attempt
from pgs.actors.kernel.dispatch import Stale
from pgs.actors.messages.courier import TryDone
from pgs.actors.parts import Parts
from pgs.domain import ids
from pgs.domain.environments import Environment
from pgs.domain.nudges import failures_after
from pgs.storage import attempts as rows
from pgs.storage.attempts import Attempt
from pgs.storage.transactions import Outcome, Tx
from pgs.storage.webhooks import Endpoint, set_failures


class Recorded(msgspec.Struct, frozen=True):
    """A try as it was logged.

    `endpoint` has the new count of failures in a row; None if the count did not change.
    """

    attempt: Attempt
    endpoint: Endpoint | None


class AttemptLog:
    """The attempt log of one endpoint.

    Only the courier writes to the log, so the newest sequence number is kept in memory.
    """

    def __init__(self, parts: Parts, partner_id: str, environment: Environment) -> None:
        self._parts = parts
        self._partner_id = partner_id
        self._environment: Environment = environment
        self._newest_seq = 0

    async def load(self) -> None:
        """Read the newest sequence number from rows."""
        reader = self._parts.database.reader
        self._newest_seq = await rows.newest_seq(reader, self._partner_id, self._environment)

    async def record(self, done: TryDone, endpoint: Endpoint | None) -> Recorded:
        """Log a try, publish it to the account's live stream, and return it as logged.

        Pass `endpoint` if the try completes a nudge whose outcome counts: the same transaction then
        sets the count of failures in a row. Raises `Stale` if the endpoint was saved or switched
        off meanwhile, and what the writer raises.
        """
        attempt = _attempt(done, self._newest_seq + 1, self._parts.new_id(ids.ATTEMPT))
        stmts = [rows.insert_attempt(self._partner_id, self._environment, attempt)]
        after = None if endpoint is None else _count(endpoint, done.delivered)
        if after is not None:
            stmts.append(
                set_failures(
                    self._partner_id,
                    self._environment,
                    after.saved_seq,
                    after.consecutive_failures,
                )
            )
        outcome = await self._parts.database.writer.submit(Tx(self._partner_id, tuple(stmts)))
        if outcome is Outcome.CONFLICT:
            raise Stale
        self._newest_seq = attempt.seq
        self._parts.on_event("nudge_try_delivered" if attempt.delivered else "nudge_try_failed")
        tell_of_attempt(self._parts, self._partner_id, self._environment, attempt)
        return Recorded(attempt, after)


def _count(endpoint: Endpoint, delivered: bool) -> Endpoint | None:
    """Return the endpoint with its new count of failures in a row, or None if it is the same."""
    failures = failures_after(endpoint.consecutive_failures, delivered)
    if failures == endpoint.consecutive_failures:
        return None
    return replace(endpoint, consecutive_failures=failures)


def _attempt(done: TryDone, seq: int, attempt_id: str) -> Attempt:
    return Attempt(
        seq=seq,
        attempt_id=attempt_id,
        nudge_id=done.nudge_id,
        at=done.tried_at,
        try_number=done.number,
        delivered=done.delivered,
        status_code=done.outcome.status,
        duration_ms=done.outcome.duration_ms,
        response_body=done.outcome.response_body,
        match_id=done.match_id,
        test=done.test,
        error=done.outcome.error,
        resend=done.resend,
    )
