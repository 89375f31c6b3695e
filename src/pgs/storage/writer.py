"""The writer: one thread that commits queued transactions in groups, in the order of arrival."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol

import outcome
import structlog
import trio

from pgs.storage.transactions import (
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

GATHER_S = 0.005
"""Seconds for which a free writer lets transactions wait at most. It takes them earlier if the
event loop becomes idle. A busy service handles about thirty calls in that time, and their
transactions share a commit."""

STALLED_AFTER_S = 5.0
"""Seconds after which a transaction that still waits for its commit makes the service unready."""

CLOSE_GRACE_S = 3.0
"""Seconds that a commit may still take when the service stops. They are part of the 15 s that a
stop may take."""

log = structlog.get_logger("pgs.storage")


_COMMITTED: Final = outcome.Value(Outcome.COMMITTED)


class Job:
    """A transaction that was submitted, and its outcome once `Commits` has set it."""

    __slots__ = ("queued_at", "result", "session", "task", "tx")

    def __init__(self, tx: Tx, session: int) -> None:
        self.tx = tx
        self.session = session
        self.queued_at = trio.current_time()
        self.task: trio.lowlevel.Task | None = None
        self.result: outcome.Value[Outcome] | outcome.Error | None = None

    def leave(self, _: Any) -> trio.lowlevel.Abort:
        """Note that the caller was cancelled and does not wait for the outcome."""
        self.task = None
        return trio.lowlevel.Abort.SUCCEEDED


class Commits(Protocol):
    """Commits transactions on the connection of one engine. It is used by one thread at a time."""

    damaged: bool
    """Whether the engine has ever found its data damaged."""

    session: int
    """The number of the session with the database. A job keeps the number that was current when the
    job was submitted."""

    def commit(self, jobs: Sequence[Job]) -> None:
        """Commit a group, and set the result of each job."""

    def abandon(self) -> None:
        """Leave no transaction open, after `commit` has raised."""

    def close(self) -> None: ...


class Writer:
    """Commits transactions in the order in which they came, many at a time."""

    def __init__(self, commits: Commits, *, inline: bool) -> None:
        self._commits = commits
        self._inline = inline
        # What the event loop gives to the thread: gathered jobs, or None at the end.
        self._queue: SimpleQueue[Sequence[Job] | None] = SimpleQueue()
        # Taken from the queue and not yet committed, the oldest first. Only `_take` touches it.
        self._taken: deque[Job] = deque()
        # Submitted and not yet answered, the oldest first. Only the event loop touches it.
        self._waiting: deque[Job] = deque()
        # Submitted since the last `_hand_over`.
        self._gathered: list[Job] = []
        # The task that hands jobs over to the thread, while it sleeps because there are none, or
        # because the thread has not finished the last ones.
        self._handing: trio.lowlevel.Task | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._ended = False
        self._failed_at = -inf
        self._failed_in = 0  # the session of the failure

    @property
    def damaged(self) -> bool:
        """Whether the engine has ever found its data damaged."""
        return self._commits.damaged

    def start(self) -> None:
        """Start the thread, unless `inline`. Call this in the trio run that will submit."""
        if not self._inline:
            self._token = trio.lowlevel.current_trio_token()
            trio.lowlevel.spawn_system_task(self._hand_over_when_idle)
            self._thread = threading.Thread(
                target=self._work, args=(self._token,), name="pgs-writer", daemon=True
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
        if self._token is None and not self._inline:
            raise RuntimeError("the writer was not started")
        job = Job(tx, self._commits.session)
        self._waiting.append(job)
        self._gathered.append(job)
        if self._token is None:
            # Other tasks may submit here. Their jobs join the group, as they do when a thread
            # commits.
            await trio.lowlevel.cancel_shielded_checkpoint()
            self._hand_over()
            self._catch_up()
            return _result_of(job).unwrap()
        self._wake_handing()
        job.task = trio.lowlevel.current_task()
        result: Outcome = await trio.lowlevel.wait_task_rescheduled(job.leave)
        return result

    @property
    def waiting(self) -> int:
        """The number of transactions that have been submitted and not answered."""
        return len(self._waiting)

    def stalled(self) -> bool:
        """Return whether the writer has ended, or a transaction waits over `STALLED_AFTER_S`."""
        return self._ended or self.longest_wait() > STALLED_AFTER_S

    def longest_wait(self) -> float:
        """Return for how many seconds the oldest transaction has waited; 0 if none waits."""
        return trio.current_time() - self._waiting[0].queued_at if self._waiting else 0

    def failed_within(self, seconds: float) -> bool:
        """Return whether a commit failed in the last `seconds`, for example on a full disk.

        A failure no longer counts once a later session has committed.
        """
        return trio.current_time() - self._failed_at < seconds

    def close(self) -> bool:
        """Commit what is queued, end the thread and close the connection; return True.

        Return False if a commit still hangs after `CLOSE_GRACE_S`. The thread then ends with the
        process.
        """
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._queue.put(None)
            if self._thread is None:
                self._catch_up()
        if self._thread is not None:
            self._thread.join(CLOSE_GRACE_S)
            if self._thread.is_alive():
                log_error("writer_stalled")
                return False
        self._commits.close()
        return True

    async def _hand_over_when_idle(self) -> None:
        """Hand over what was gathered once neither the thread nor the event loop has work.

        A free thread waits for the event loop for `GATHER_S` at most. Both need the interpreter,
        which runs only one thread at a time. While both have work, each statement of the thread
        has to wait for the event loop, and then interrupts it. So after a commit the event loop
        first sends the answers and handles the calls that follow them. And the later the thread
        begins, the more transactions share a commit.
        """
        # Imported here, because the import takes long and only a service needs it. The module is
        # made for tests, but nothing else in trio tells when no task can run.
        from trio.testing import wait_all_tasks_blocked

        while True:
            while not self._may_hand_over:
                await self._until_woken()
            with trio.move_on_after(GATHER_S):
                await wait_all_tasks_blocked()
            self._hand_over()

    @property
    def _may_hand_over(self) -> bool:
        """Whether transactions have been gathered, and the thread has finished all others."""
        return 0 < len(self._gathered) == len(self._waiting)

    async def _until_woken(self) -> None:
        """Sleep until `_wake_handing` is called."""
        self._handing = trio.lowlevel.current_task()

        def abort(_: Any) -> trio.lowlevel.Abort:
            self._handing = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def _wake_handing(self) -> None:
        """Wake the task that hands jobs over, if there is something to do for it."""
        if self._handing is not None and self._may_hand_over:
            handing, self._handing = self._handing, None
            trio.lowlevel.reschedule(handing)

    def _hand_over(self) -> None:
        """Give the thread what was gathered, as one item.

        If it got the transactions one by one, it would begin with a commit of the first ones, while
        the others wait.
        """
        if self._gathered:
            self._queue.put(self._gathered)
            self._gathered = []

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

    def _take(self, *, wait: bool) -> tuple[list[Job], bool]:
        """Return what is queued, up to one group, and whether the writer should end."""
        taken = self._taken
        ending = False
        with suppress(Empty):
            while len(taken) < GROUP_LIMIT and not ending:
                gathered = self._queue.get(block=wait and not taken)
                if gathered is None:
                    ending = True
                else:
                    taken.extend(gathered)
        group = [taken.popleft() for _ in range(min(GROUP_LIMIT, len(taken)))]
        return group, ending

    def _deliver(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._waiting.popleft()  # this is `job`: the oldest is answered first
            if isinstance(job.result, outcome.Error) and isinstance(
                job.result.error, WriteFailed | OutcomeUnknown
            ):
                self._failed_at, self._failed_in = trio.current_time(), job.session
            elif (
                self._failed_at > -inf
                and self._failed_in < job.session
                and job.result == _COMMITTED  # the database takes writes again
            ):
                self._failed_at = -inf
            if job.task is not None:
                trio.lowlevel.reschedule(job.task, _result_of(job))
        self._wake_handing()

    def _end(self) -> None:
        self._ended = True
        self._deliver(tuple(self._waiting))

    def _commit_group(self, jobs: Sequence[Job]) -> None:
        """Commit a group.

        After an error every caller is still answered, and no transaction stays open.
        """
        try:
            if jobs:
                self._commits.commit(jobs)
        except Exception as error:
            log_error("writer_broke", error)
            self._commits.abandon()


def answer(jobs: Sequence[Job], error: type[StoreOutage], why: str) -> None:
    """Set the result of all jobs to an error."""
    for job in jobs:  # an error for each job: raising one changes its traceback
        job.result = outcome.Error(error(why))


def _result_of(job: Job) -> outcome.Value[Outcome] | outcome.Error:
    return job.result or outcome.Error(OutcomeUnknown("the writer broke"))


def _call_soon(token: trio.lowlevel.TrioToken, call: Callable[..., object], *args: object) -> None:
    with suppress(trio.RunFinishedError):  # the run has ended: no caller is left
        token.run_sync_soon(call, *args)


def log_error(event: str, error: Exception | None = None, **fields: object) -> None:
    """Log an error of the writer."""
    with suppress(Exception):  # a log that cannot be written must not end the writer
        log.error(event, exc_info=error, **fields)
