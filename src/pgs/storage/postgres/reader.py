"""Reads PostgreSQL from the event loop, with many queries at a time over one connection."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final

import outcome
import structlog
import trio
from psycopg import Error, pq
from psycopg.adapt import Transformer

from pgs.storage.postgres.blocking_reader import shown
from pgs.storage.postgres.connection import Lost, StatementRefused, ends_session, is_error, refused
from pgs.storage.postgres.statements import PLAIN, Statement, Values, rows_of, sought
from pgs.storage.reader import Query, RepeatingReader, Row
from pgs.storage.transactions import Params, ReadFailed, SqlValue, StoreOutage

READ_S: Final = 10.0
"""Seconds after which a read without an answer fails, and the connection with it. The server ends a
statement after half of that, so a server that is silent for longer has stopped."""


log = structlog.get_logger("pgs.storage")


class _Asked:
    """A query of a waiting task, and its place among the queries that are read together."""

    __slots__ = ("at", "number", "statement", "values", "waiter")

    def __init__(self, waiter: _Waiter, number: int, statement: Statement, values: Values) -> None:
        self.waiter = waiter
        self.number = number
        self.statement = statement
        self.values = values
        self.at = trio.current_time()


class _Waiter:
    """A task that waits for the rows of its queries."""

    __slots__ = ("asked", "begins_again", "error", "left", "rows", "task")

    def __init__(self, count: int) -> None:
        self.asked: list[_Asked] = []
        self.begins_again = False
        self.task: trio.lowlevel.Task | None = trio.lowlevel.current_task()
        self.rows: list[list[Row]] = [[] for _ in range(count)]
        self.left = count
        self.error: Exception | None = None

    def answer(self, number: int, rows: list[Row]) -> None:
        """Store the rows of a query; the last of the task's queries wakes it."""
        self.rows[number] = rows
        self.left -= 1
        if self.left == 0:
            self._wake(outcome.Value(None))

    def begin_again(self) -> list[_Asked]:
        """Return all queries of the task, to be sent again, since they must be read together."""
        if self.begins_again or self.error is not None:
            return []
        self.begins_again, self.left = True, len(self.asked)
        return self.asked

    def fail(self, error: Exception) -> None:
        """Wake the task with an error, unless it has one already."""
        if self.error is None:
            self.error = error
            self._wake(outcome.Error(error))

    def _wake(self, result: outcome.Value[None] | outcome.Error) -> None:
        task, self.task = self.task, None
        if task is not None:
            trio.lowlevel.reschedule(task, result)


class PipelineReader(RepeatingReader):
    """Reads over one connection on which many queries are under way, driven by the event loop.

    What tasks ask for in one turn of the loop is sent together, and the server reads all of it as
    of one moment, since the session's transactions are of the isolation level `repeatable read`.
    That moment is later than every commit that any of these tasks knows of.
    """

    def __init__(self, connect: Callable[[], pq.abc.PGconn]) -> None:
        """`connect` opens a connection whose transactions are `repeatable read` and read-only."""
        super().__init__()
        self._connect = connect
        self._opened: pq.abc.PGconn | None = None
        self._prepared: set[bytes] = set()
        self._asked: list[_Asked] = []  # queries that are not sent yet
        # Sent, in the order of the results: a query, the name of a statement that is prepared, or
        # None for the end of what was sent together.
        self._sent: deque[_Asked | bytes | None] = deque()
        self._again: list[_Asked] = []  # skipped because another query failed
        self._sender: trio.lowlevel.Task | None = None
        self._waiting = trio.CancelScope()  # scope in which the receiving task waits
        self._rows = Transformer()
        self._closed = False
        self._renewals = 0

    def start(self) -> None:
        """Start to send and to receive; call it inside the trio run."""
        trio.lowlevel.spawn_system_task(self._send, name="pgs-reads")

    async def one(self, name: str, **params: SqlValue) -> Row | None:
        """Return the first row of a query, or None. Raises `ReadFailed`."""
        rows = (await self._read(((name, params),)))[0]
        return rows[0] if rows else None

    async def all(self, name: str, **params: SqlValue) -> list[Row]:
        """Return every row of a query. Raises `ReadFailed`."""
        return (await self._read(((name, params),)))[0]

    async def together(self, *queries: Query) -> list[list[Row]]:
        """Return the rows of each query, all as of the same moment. Raises `ReadFailed`."""
        found = await self._read(tuple((query.name, query.params) for query in queries))
        return [shown(query.name, rows) for query, rows in zip(queries, found, strict=True)]

    def one_moment(self) -> AbstractAsyncContextManager[None]:
        """Raise `RuntimeError`: other tasks read over this connection at the same time."""
        raise RuntimeError("a block as of one moment needs a reader of its own")

    async def _read(self, queries: tuple[tuple[str, Params], ...]) -> list[list[Row]]:
        await trio.lowlevel.checkpoint_if_cancelled()
        waiter = _Waiter(len(queries))
        waiter.asked = [
            _Asked(waiter, number, PLAIN[name], sought(name, params))
            for number, (name, params) in enumerate(queries)
        ]
        self._asked += waiter.asked
        if self._sender is not None:
            sender, self._sender = self._sender, None
            trio.lowlevel.reschedule(sender)

        def abort(_: Any) -> trio.lowlevel.Abort:
            waiter.task = None
            return trio.lowlevel.Abort.SUCCEEDED

        try:
            await trio.lowlevel.wait_task_rescheduled(abort)
        except (Lost, StatementRefused) as error:
            if isinstance(error, StatementRefused) and not error.is_fault:
                raise
            name, params = queries[0]
            self._failed = Query(name, params)
            raise ReadFailed(name, error) from error
        return waiter.rows

    def reconnect(self) -> None:
        """Use a new connection from now on. Reads under way fail."""
        self._renewals += 1
        self._drop(Lost("the writer has a new session"))

    def close(self) -> None:
        """Close the connection. Reads under way fail."""
        self._closed = True
        self._drop(Lost("the reader was closed"))

    async def _send(self) -> None:
        """Send queued queries until the reader is closed. A second task receives the results."""
        with suppress(trio.Cancelled):
            async with trio.open_nursery() as nursery:
                while not self._closed:
                    if not self._asked:
                        self._sender = trio.lowlevel.current_task()
                        await trio.lowlevel.wait_task_rescheduled(self._stop_sending)
                        continue
                    opened = await self._opened_for(nursery)
                    if opened is not None:
                        self._send_asked(opened)

    def _stop_sending(self, _: Any) -> trio.lowlevel.Abort:
        self._sender = None
        return trio.lowlevel.Abort.SUCCEEDED

    async def _opened_for(self, nursery: trio.Nursery) -> pq.abc.PGconn | None:
        """Return the connection, a new one if need be; None if none can be opened."""
        if self._opened is None:
            renewals = self._renewals
            try:
                opened = await trio.to_thread.run_sync(self._connect)
            except StoreOutage as error:
                asked, self._asked = self._asked, []
                for one in asked:
                    one.waiter.fail(Lost(str(error)))
                return None
            if self._closed or renewals != self._renewals:
                opened.finish()
                self._drop(Lost("the reader was closed"))
                return None
            opened.nonblocking = 1
            opened.enter_pipeline_mode()
            self._prepared.clear()
            self._opened = opened
            # A descriptor of our own: libpq closes its socket when it finds that the server has
            # gone, and the number could then belong to another file.
            nursery.start_soon(self._receive, opened, os.dup(opened.socket))
        return self._opened

    def _send_asked(self, opened: pq.abc.PGconn) -> None:
        asked, self._asked = self._asked, []
        try:
            for one in asked:
                one.waiter.begins_again = False
                name = one.statement.name
                if name not in self._prepared:
                    opened.send_prepare(name, one.statement.text)
                    self._prepared.add(name)
                    self._sent.append(name)
                opened.send_query_prepared(name, one.values)
                self._sent.append(one)
            opened.pipeline_sync()
            self._sent.append(None)
            if opened.flush():  # more than the socket took: the receiver sends the rest
                self._waiting.cancel()
        except Exception as error:  # the task that sends has no caller
            if not isinstance(error, Error):
                log.exception("reader_broke")
            for one in asked:
                one.waiter.fail(Lost(str(error)))
            self._drop(Lost(str(error)))

    async def _receive(self, opened: pq.abc.PGconn, socket: int) -> None:
        try:
            while self._opened is opened:
                with trio.move_on_after(READ_S / 2) as self._waiting:
                    if opened.flush():
                        await _readable_or_writable(socket)
                    else:
                        await trio.lowlevel.wait_readable(socket)
                    opened.consume_input()
                    self._take_results(opened)
                oldest = next((one for one in self._sent if isinstance(one, _Asked)), None)
                if oldest is not None and trio.current_time() - oldest.at > READ_S:
                    raise Lost("the server does not answer")
        except Exception as error:  # this task has no caller, and an error would end the process
            if not isinstance(error, Error | Lost):
                log.exception("reader_broke")
            if self._opened is opened:
                self._drop(Lost(str(error).strip()))
        finally:
            with suppress(OSError):
                os.close(socket)

    def _take_results(self, opened: pq.abc.PGconn) -> None:
        """Answer every query whose result has arrived."""
        while self._sent and not opened.is_busy():
            result = opened.get_result()
            if result is None:  # the end of one query
                continue
            if result.status == pq.ExecStatus.FATAL_ERROR and (
                opened.status != pq.ConnStatus.OK or ends_session(result)
            ):
                raise Lost(opened.get_error_message().strip())
            one = self._sent.popleft()
            if one is None:  # the end of what was sent together
                if self._again:
                    self._asked += self._again
                    self._again = []
                    self._send_asked(opened)
            elif isinstance(one, bytes):
                if is_error(result):
                    self._prepared.discard(one)
                    if result.status == pq.ExecStatus.FATAL_ERROR:
                        self._refuse_next(result)
            elif result.status == pq.ExecStatus.TUPLES_OK:
                one.waiter.answer(one.number, rows_of(result, self._rows))
            elif result.status == pq.ExecStatus.PIPELINE_ABORTED:
                self._again += one.waiter.begin_again()
            else:
                one.waiter.fail(refused(result))

    def _refuse_next(self, result: pq.abc.PGresult) -> None:
        """Fail the query whose statement could not be prepared."""
        following = self._sent[0]
        if isinstance(following, _Asked):
            following.waiter.fail(refused(result))

    def _drop(self, error: Lost) -> None:
        """Close the connection, and fail every query that has no answer yet, sent or not."""
        opened, self._opened = self._opened, None
        sent = [*self._sent, *self._again, *self._asked]
        self._sent.clear()
        self._again, self._asked = [], []
        for one in sent:
            if isinstance(one, _Asked):
                one.waiter.fail(Lost(str(error)))
        if opened is not None:
            opened.finish()


async def _readable_or_writable(socket: int) -> None:
    """Return once the server has sent something or takes more.

    The server may take nothing more until this side has read its results.
    """
    async with trio.open_nursery() as nursery:

        async def first(wait: Callable[[int], Awaitable[None]]) -> None:
            await wait(socket)
            nursery.cancel_scope.cancel()

        nursery.start_soon(first, trio.lowlevel.wait_readable)
        nursery.start_soon(first, trio.lowlevel.wait_writable)
