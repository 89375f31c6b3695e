"""The writer of one of several nodes. Its thread also takes and hands over shards, and beats.

Everything that the node writes goes over one session, whose locks decide which shards the node
owns. A job has the number of the session during which it was decided. After a session has ended,
the event loop first drops everything that it held in memory during that session. Only then do new
jobs get the number of the next session. So nothing that was decided from the dropped memory is
written during the next session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import outcome
import trio

from pgs.storage.postgres.commit_count import CommitCount
from pgs.storage.postgres.commits import Guard, PostgresCommits
from pgs.storage.postgres.connection import Lost, StatementRefused
from pgs.storage.postgres.hosts import shut
from pgs.storage.postgres.session import WritingSession
from pgs.storage.transactions import StoreOutage, Tx
from pgs.storage.writer import Job, Writer, log_error

T = TypeVar("T")

_NOTHING: Final = Tx("", ())

_ENDED: Final = "the session with the database has ended"


class SessionJob(Job):
    """Work that the writer's thread does on a session.

    `of` is that session, or None for the job that opens one.
    """

    __slots__ = ("of", "work")

    def __init__(self, of: Any | None, work: Callable[[Any], Any]) -> None:
        super().__init__(_NOTHING, 0)
        self.of = of
        self.work = work


class NodeCommits(PostgresCommits):
    """Commits on one session. After its end, another session is opened only on request.

    `ended`: a session that has ended, until `NodeWriter` has seen it.
    """

    def __init__(
        self,
        session: WritingSession,
        reopen: Callable[[], WritingSession],
        guard: Guard,
        count: CommitCount,
    ) -> None:
        super().__init__(session, reopen, guard, count)
        self.ended: WritingSession | None = None
        self._first: WritingSession | None = session  # None once `open` has returned it
        self._abandoned: WritingSession | None = None

    def commit(self, jobs: Sequence[Job]) -> None:
        """Commit all transactions, and do all work on sessions, in the order in which they came."""
        group: list[Job] = []
        for job in jobs:
            if isinstance(job, SessionJob):
                self._commit_together(group)
                group = []
                self._do(job)
            else:
                group.append(job)
        self._commit_together(group)

    def _commit_together(self, jobs: Sequence[Job]) -> None:
        if jobs:
            super().commit(jobs)

    def _open_session(self) -> WritingSession | StoreOutage:
        self._drop_abandoned()
        return self._session or StoreOutage(_ENDED)

    def _do(self, job: SessionJob) -> None:
        self._drop_abandoned()
        try:
            if job.of is None:
                result: Any = self._open()
            elif job.of is not self._session:
                raise StoreOutage(_ENDED)
            else:
                result = job.work(self._session)
        except (StoreOutage, StatementRefused) as error:
            if isinstance(error, Lost | StatementRefused):
                self._drop()
            job.result = outcome.Error(error)
        except Exception as error:
            log_error("writer_broke", error)
            self._drop()
            job.result = outcome.Error(error)
        else:
            job.result = outcome.Value(result)

    def _open(self) -> WritingSession:
        first, self._first = self._first, None
        if first is None or first is not self._session:
            self._drop()
            self._session = self._reopen()
        return self._session

    def abandon_session(self, session: WritingSession) -> None:
        """End a session from any thread, even while another thread waits for the server."""
        with self._closing:
            self._abandoned = session
            shut(session.connection)

    def _drop_abandoned(self) -> None:
        if self._session is not None and self._session is self._abandoned:
            self._drop()

    def _drop(self) -> None:
        with self._closing:
            session, self._session = self._session, None
            if session is not None:
                self.ended = session
                session.close()


class NodeWriter(Writer):
    """A writer that also does a node's work on shards, as its `WriterLine`.

    Set `on_lost` before the start. It is called with a session that has ended, before any caller
    learns the outcome of a transaction that was under way. `on_opened` is called, without
    arguments, after each later session was opened.
    """

    def __init__(self, commits: NodeCommits) -> None:
        super().__init__(commits, inline=False)
        self._of_node = commits
        self.on_lost: Callable[[Any], None] = lambda session: None
        self.on_opened: Callable[[], None] = lambda: None

    async def open(self) -> WritingSession:
        """Open a session that holds the node's lock, and return it. Raises `StoreOutage`."""
        session: WritingSession = await self._send(SessionJob(None, lambda session: session))
        if session.number != self._of_node.session:
            self._of_node.session = session.number
            self.on_opened()
        return session

    async def run(self, session: Any, work: Callable[[Any], T]) -> T:
        """Return what `work` returns. Raises `StoreOutage` and `StatementRefused`.

        If the session has ended, the work is not begun, and `StoreOutage` is raised.
        """
        result: T = await self._send(SessionJob(session, work))
        return result

    def abandon(self, session: Any) -> None:
        """End a session immediately, even while it waits for an answer."""
        self._of_node.abandon_session(session)

    async def _send(self, job: SessionJob) -> Any:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._closed or self._ended:
            raise StoreOutage("the writer has ended")
        job.task = trio.lowlevel.current_task()
        self._waiting.append(job)
        self._gathered.append(job)  # after the transactions of this turn that came before it
        self._hand_over()

        def abort(_: Any) -> trio.lowlevel.Abort:
            job.task = None
            return trio.lowlevel.Abort.SUCCEEDED

        return await trio.lowlevel.wait_task_rescheduled(abort)

    def _deliver(self, jobs: Sequence[Job]) -> None:
        ended, self._of_node.ended = self._of_node.ended, None
        if ended is not None:
            self.on_lost(ended)
        super()._deliver(jobs)
