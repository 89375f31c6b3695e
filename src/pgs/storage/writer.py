"""The writer: one thread that commits queued transactions in groups, in the order of arrival."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import outcome
import structlog
import trio

from pgs.storage.queries import QUERIES, STATEMENTS
from pgs.storage.transactions import (
    BUGS,
    Outcome,
    OutcomeUnknown,
    StoreOutage,
    Tx,
    WriteFailed,
    WriterFull,
)

GROUP_LIMIT = 256
"""Transactions in one commit: as many as arrive during a disk's flush, and few enough to repeat one
by one if one of them fails."""

QUEUE_LIMIT = 4096
"""Transactions that wait for the writer. Beyond that a caller is refused, because its commit would
come too late."""

STALLED_AFTER_S = 5.0
"""Seconds after which a transaction that still waits for its commit makes the service unready."""

CLOSE_GRACE_S = 3.0
"""Seconds that a commit may still take when the service stops. They are part of the 15 s that a
stop may take."""

# The kernel may have thrown away the pages that it could not write, and reports it only once: the
# next sync would succeed without them.
_FAILED_SYNC = frozenset({sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC})

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

LAST_LINE_S = 0.25
"""Seconds for the log to take its last line before the process ends after a failed sync."""

# A violated unique index or primary key means that another write came first. Any other violated
# constraint is a bug.
_TAKEN = frozenset(
    {
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        sqlite3.SQLITE_CONSTRAINT_ROWID,
    }
)

log = structlog.get_logger("pgs.storage")


class _Conflict(Exception):
    pass


class _Job:
    __slots__ = ("queued_at", "result", "task", "tx")

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self.queued_at = trio.current_time()
        self.task: trio.lowlevel.Task | None = None
        self.result: outcome.Value[Outcome] | outcome.Error | None = None


class Guard(Protocol):
    """Watches over the files that the writer writes."""

    def lost(self) -> str | None:
        """Return why nothing may be written to the open files, or None."""

    def committed(self, commits: int) -> None:
        """Note how many commits the database holds now."""


class Writer:
    """Commits transactions in the order in which they came, many at a time."""

    def __init__(self, connection: sqlite3.Connection, *, inline: bool, guard: Guard) -> None:
        self._connection = connection
        self._guard = guard
        self._inline = inline
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        # Submitted and not yet answered, the oldest first. Only the event loop touches it.
        self._waiting: deque[_Job] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._ended = False
        self._failed_at = -inf
        self.damaged = False  # SQLite found the file damaged, which does not heal

    def start(self) -> None:
        """Start the thread, unless `inline`. Call this in the trio run that will submit."""
        if not self._inline:
            token = trio.lowlevel.current_trio_token()
            self._thread = threading.Thread(
                target=self._work, args=(token,), name="pgs-writer", daemon=True
            )
            self._thread.start()

    async def submit(self, tx: Tx) -> Outcome:
        """Return the outcome of `tx`; `COMMITTED` means that it is on disk.

        Raises `WriterFull` (not accepted), `WriteFailed` (nothing changed) or `OutcomeUnknown`. Any
        other exception means a bug in the statements; nothing was changed. A caller that is
        cancelled while it waits does not learn the outcome, but the transaction is still committed.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._closed or self._ended:
            raise WriteFailed("the writer has ended")
        if len(self._waiting) >= QUEUE_LIMIT:
            raise WriterFull("too many writes wait")
        if self._thread is None and not self._inline:
            raise RuntimeError("the writer was not started")
        job = _Job(tx)
        self._waiting.append(job)
        self._queue.put(job)
        if self._inline:
            # Other tasks may submit here. Their jobs join the group, as they do when a thread
            # commits.
            await trio.lowlevel.cancel_shielded_checkpoint()
            self._catch_up()
            return _result_of(job).unwrap()
        job.task = trio.lowlevel.current_task()

        def abort(_: Any) -> trio.lowlevel.Abort:
            job.task = None
            return trio.lowlevel.Abort.SUCCEEDED

        result: Outcome = await trio.lowlevel.wait_task_rescheduled(abort)
        return result

    @property
    def waiting(self) -> int:
        """The number of transactions that have been submitted and not answered."""
        return len(self._waiting)

    def stalled(self) -> bool:
        """Return whether the writer has ended, or a transaction waits over `STALLED_AFTER_S`."""
        return self._ended or (
            bool(self._waiting)
            and trio.current_time() - self._waiting[0].queued_at > STALLED_AFTER_S
        )

    def failed_within(self, seconds: float) -> bool:
        """Return whether the machine (a full disk, say) failed a commit in the last `seconds`."""
        return trio.current_time() - self._failed_at < seconds

    def close(self) -> bool:
        """Commit what is queued, end the thread and close the connection; return True.

        Return False if a commit still hangs after `CLOSE_GRACE_S`. The thread then ends with the
        process.
        """
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            if self._thread is None:
                self._catch_up()
        if self._thread is not None:
            self._thread.join(CLOSE_GRACE_S)
            if self._thread.is_alive():
                _report("writer_stalled")
                return False
        self._connection.close()
        return True

    def _work(self, token: trio.lowlevel.TrioToken) -> None:
        try:
            ending = False
            while not ending:
                jobs, ending = self._take(wait=True)
                try:
                    self._commit_group(jobs)
                finally:
                    _call_soon(token, self._deliver, jobs)
        finally:
            _call_soon(token, self._end)

    def _catch_up(self) -> None:
        ending = False
        while self._waiting and not ending:
            jobs, ending = self._take(wait=False)
            self._commit_group(jobs)
            self._deliver(jobs)

    def _take(self, *, wait: bool) -> tuple[list[_Job], bool]:
        """Return what is queued, up to one group, and whether the writer should end."""
        jobs: list[_Job] = []
        with suppress(Empty):
            while len(jobs) < GROUP_LIMIT:
                job = self._queue.get(block=wait and not jobs)
                if job is None:
                    return jobs, True
                jobs.append(job)
        return jobs, False

    def _deliver(self, jobs: Sequence[_Job]) -> None:
        for job in jobs:
            self._waiting.popleft()  # `job`: jobs are answered in the order of arrival
            if isinstance(job.result, outcome.Error) and isinstance(
                job.result.error, WriteFailed | OutcomeUnknown
            ):
                self._failed_at = trio.current_time()
            if job.task is not None:
                trio.lowlevel.reschedule(job.task, _result_of(job))

    def _end(self) -> None:
        self._ended = True
        self._deliver(tuple(self._waiting))

    def _commit_group(self, jobs: Sequence[_Job]) -> None:
        """Commit a group.

        After an error every caller is still answered, and no transaction stays open.
        """
        try:
            if jobs:
                self._commit(jobs)
        except Exception as error:
            _report("writer_broke", error)
            self._roll_back()

    def _commit(self, jobs: Sequence[_Job]) -> None:
        """Commit all jobs together. If one fails, commit each job separately instead."""
        if lost := self._guard.lost():
            _answer(jobs, WriteFailed, lost)
            return
        try:
            self._connection.execute("begin immediate")
            for job in jobs:
                self._execute(job.tx)
            (commits,) = QUERIES["heartbeat.count_write"](self._connection)
        except Exception as error:
            self._look_at(error)
            self._roll_back()
            if len(jobs) == 1:
                jobs[0].result = _verdict(jobs[0].tx, error)
            else:
                for job in jobs:
                    self._commit([job])
            return
        try:
            self._connection.execute("commit")
        except Exception as error:
            _report("commit_failed", error, transactions=len(jobs))
            self._look_at(error)
            self._roll_back()
            _answer(jobs, OutcomeUnknown, str(error))
            return
        self._guard.committed(commits)
        if lost := self._guard.lost():  # this commit may be lost with it
            _answer(jobs, OutcomeUnknown, lost)
            return
        for job in jobs:
            job.result = outcome.Value(Outcome.COMMITTED)

    def _look_at(self, error: Exception) -> None:
        """End the process if the disk failed to sync: only a restart reads what is really there."""
        code = getattr(error, "sqlite_errorcode", None)
        if code in _FAILED_SYNC:
            _report("sync_failed", error)
            threading.Event().wait(LAST_LINE_S)
            os.kill(os.getpid(), signal.SIGKILL)
        if code is not None and code & 0xFF in _DAMAGED:
            self.damaged = True

    def _execute(self, tx: Tx) -> None:
        execute = self._connection.execute
        for stmt in tx.stmts:
            statement = STATEMENTS[stmt.name]
            touched = execute(statement.text, statement.values(stmt.params)).rowcount
            if touched < 0:  # the statement is a select
                raise TypeError(f"{stmt.name} writes nothing")
            if stmt.expected_rows is not None and touched != stmt.expected_rows:
                raise _Conflict(stmt.name)

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
        except sqlite3.Error as error:
            _report("rollback_failed", error)


def _answer(jobs: Sequence[_Job], error: type[StoreOutage], why: str) -> None:
    for job in jobs:  # not one error for all: raising it changes its traceback
        job.result = outcome.Error(error(why))


def _verdict(tx: Tx, error: Exception) -> outcome.Value[Outcome] | outcome.Error:
    """Return the outcome of a transaction whose statements failed, before its commit."""
    if isinstance(error, _Conflict) or (
        isinstance(error, sqlite3.IntegrityError)
        and getattr(error, "sqlite_errorcode", None) in _TAKEN
    ):
        return outcome.Value(Outcome.CONFLICT)
    _report("write_failed", error, partner_id=tx.partner_id)
    if isinstance(error, sqlite3.Error) and not isinstance(error, BUGS):
        return outcome.Error(WriteFailed(str(error)))
    return outcome.Error(error)


def _result_of(job: _Job) -> outcome.Value[Outcome] | outcome.Error:
    return job.result or outcome.Error(OutcomeUnknown("the writer broke"))


def _call_soon(token: trio.lowlevel.TrioToken, call: Callable[..., object], *args: object) -> None:
    with suppress(trio.RunFinishedError):  # the run has ended: no caller is left
        token.run_sync_soon(call, *args)


def _report(event: str, error: Exception | None = None, **fields: object) -> None:
    with suppress(Exception):  # a log that cannot be written must not end the writer
        log.error(event, exc_info=error, **fields)
