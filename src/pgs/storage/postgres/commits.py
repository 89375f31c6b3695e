"""Commits groups of transactions to PostgreSQL, each group in one round trip."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import outcome
from psycopg import pq

from pgs.storage.postgres.commit_count import CommitCount
from pgs.storage.postgres.connection import Lost, StatementRefused, is_error, refused
from pgs.storage.postgres.hosts import shut
from pgs.storage.postgres.notices import TELL, TOLD
from pgs.storage.postgres.session import WritingSession
from pgs.storage.postgres.statements import PLAIN, Statement, Values, bound, counting
from pgs.storage.transactions import Outcome, OutcomeUnknown, StoreOutage, Tx, WriteFailed
from pgs.storage.writer import Job, answer, log_error

_BEGIN: Final = (Statement(b"begin", b"begin"), list[bytes | None]())
_COMMIT: Final = (Statement(b"commit", b"commit"), list[bytes | None]())
_ROLLBACK: Final = "rollback"
_COMMITTED: Final = outcome.Value(Outcome.COMMITTED)

_TAKEN: Final = "23505"  # a unique index or a primary key: another write came first
_COUNTED_OTHERWISE: Final = "22012"  # division by zero: how a statement of `counting` fails

Step = tuple[Statement, Values]


class Guard(Protocol):
    """Receives the number of commits after each commit of the writer."""

    def committed(self, commits: int) -> None:
        """Note how many commits the database holds now."""


class PostgresCommits:
    """Commits on one session at a time, and opens a new session when the last one has ended.

    Each transaction was decided during one session. If that session has ended, another service may
    have written since, so the transaction is refused instead of being sent.
    """

    def __init__(
        self,
        session: WritingSession,
        reopen: Callable[[], WritingSession],
        guard: Guard,
        count: CommitCount | None = None,
    ) -> None:
        """`reopen` returns the next session, or raises `StoreOutage`."""
        self._count = (count or CommitCount()).step
        self._session: WritingSession | None = session
        self._reopen = reopen
        self._guard = guard
        self._closing = threading.Lock()  # held while a session or its socket is closed
        self.session = session.number
        self.damaged = False

    def commit(self, jobs: Sequence[Job]) -> None:
        """Commit all jobs together. Jobs of an ended session are refused.

        If a job has a conflict, the others are sent again together without it. If a job fails for
        another reason, the jobs before it are committed, then it is tried by itself, then the rest.
        """
        session = self._open_session()
        if isinstance(session, StoreOutage):
            answer(jobs, WriteFailed, str(session))
            return
        stale = [job for job in jobs if job.session != session.number]
        answer(stale, WriteFailed, "the session in which this was decided has ended")
        self._commit([job for job in jobs if job.session == session.number])

    def _open_session(self) -> WritingSession | StoreOutage:
        if self._session is None:
            try:
                self._session = self._reopen()
            except StoreOutage as error:
                log_error("session_not_opened", error)
                return error
            self.session = self._session.number
        return self._session

    def _commit(self, jobs: Sequence[Job]) -> None:
        conflicts: list[tuple[Job, Sequence[Job]]] = []  # a job, and the jobs before it
        while jobs and (failed := self._try(jobs)) is not None:
            conflicts.append((jobs[failed], jobs[:failed]))
            jobs = [*jobs[:failed], *jobs[failed + 1 :]]
        for job, before in conflicts:
            # The row in conflict may be one that an earlier job of the group has written. If that
            # job was not committed, the row does not exist, so this job is tried again.
            if all(one.result == _COMMITTED for one in before):
                job.result = outcome.Value(Outcome.CONFLICT)
            else:
                self._commit([job])

    def _try(self, jobs: Sequence[Job]) -> int | None:
        """Commit all jobs together. Return the number of a job that has a conflict, else None.

        After a conflict, nothing was changed and no job has a result.
        """
        if self._session is None:  # an earlier part of the group has ended the session
            answer(jobs, WriteFailed, "the session with the database has ended")
            return None
        steps: list[Step] = [_BEGIN]
        ends: list[int] = []  # for each job: how many steps there are up to its last one
        for number, job in enumerate(jobs):
            try:
                steps += _steps_of(job.tx)
            except Exception as error:
                self._split(jobs, number, error)
                return None
            ends.append(len(steps))
        if any(stmt.name in TOLD for job in jobs for stmt in job.tx.stmts):
            steps.append(TELL)
        steps += [self._count, _COMMIT]
        return self._send(self._session, jobs, steps, ends)

    def _send(
        self,
        session: WritingSession,
        jobs: Sequence[Job],
        steps: Sequence[Step],
        ends: Sequence[int],
    ) -> int | None:
        """Send all steps in one round trip; return what `_try` returns."""
        session.warnings.clear()
        try:
            results = session.connection.pipeline(steps)
            last = results[-1]
            if is_error(last):
                session.connection.command(_ROLLBACK)
                at = len(results)
                failed = next((n for n, end in enumerate(ends) if at <= end), None)
                error = refused(last)
                if failed is None:  # `TELL`, the count of commits or the commit failed
                    raise Lost(f"the commit failed: {error}")
                if _is_conflict(error, steps[at - 1][0]):
                    return failed
                self._split(jobs, failed, error)
                return None
            if last.command_status != b"COMMIT" or session.warnings:
                # A commit that was not confirmed by a standby ends with a warning.
                said = (last.command_status or b"").decode()
                raise Lost(f"the commit said {said} {' '.join(session.warnings)}")
        except (Lost, StatementRefused) as error:
            log_error("commit_failed", error, transactions=len(jobs))
            self._drop()
            answer(jobs, OutcomeUnknown, str(error))
            return None
        self._guard.committed(_first_number(results[-2]))
        for job in jobs:
            # Each job has its own `Value`, because a `Value` can be unwrapped only once.
            job.result = outcome.Value(Outcome.COMMITTED)
        return None

    def _split(self, jobs: Sequence[Job], failed: int, error: Exception) -> None:
        """Commit the jobs before the failed one, then the failed one by itself, then the rest.

        Another job may have caused the error, so the error counts only if the job also fails by
        itself.
        """
        if len(jobs) == 1:
            jobs[0].result = _verdict(jobs[0].tx, error)
            return
        self._commit(jobs[:failed])
        self._commit(jobs[failed : failed + 1])
        self._commit(jobs[failed + 1 :])

    def uses(self, session: WritingSession) -> bool:
        """Return whether commits go over this session now."""
        return self._session is session

    def cut(self, session: WritingSession) -> None:
        """End a session that is in use, from any thread: the commit that waits for it fails."""
        with self._closing:
            if self._session is session:
                shut(session.connection)

    def _drop(self) -> None:
        """End the session, whatever state it is in."""
        with self._closing:
            session, self._session = self._session, None
            if session is not None:
                session.close()

    def abandon(self) -> None:
        """End the session after an unexpected error."""
        self._drop()

    def close(self) -> None:
        """Give up the locks and end the session."""
        if self._session is not None:
            self._session.release()
        self._drop()


def _is_conflict(error: StatementRefused, statement: Statement) -> bool:
    """Return whether a statement touched a wrong number of rows, or its row existed."""
    counted = error.sqlstate == _COUNTED_OTHERWISE and statement.counts
    return counted or error.sqlstate == _TAKEN


def _steps_of(tx: Tx) -> list[Step]:
    """Return the statements of a transaction with their values. Raises the errors of `bound`."""
    steps: list[Step] = []
    for stmt in tx.stmts:
        if stmt.expected_rows is None:
            statement = PLAIN[stmt.name]
        else:
            statement = counting(stmt.name, stmt.expected_rows)
        steps.append((statement, bound(stmt.name, stmt.params)))
    return steps


def _first_number(result: pq.abc.PGresult) -> int:
    return int(result.get_value(0, 0) or b"0")


def _verdict(tx: Tx, error: Exception) -> outcome.Error:
    """Return the outcome of a transaction whose statements failed, before its commit."""
    log_error("write_failed", error, partner_id=tx.partner_id)
    if isinstance(error, StatementRefused) and error.is_fault:
        return outcome.Error(WriteFailed(str(error)))
    return outcome.Error(error)
