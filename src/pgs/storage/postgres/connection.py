"""A connection to PostgreSQL that sends many statements before it reads their results."""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from psycopg import Error, pq
from psycopg.adapt import Transformer

from pgs.storage.postgres.statements import Statement, Values, rows_of
from pgs.storage.reader import Row
from pgs.storage.transactions import StoreOutage


class StatementRefused(Exception):
    """The server refused a statement; its transaction changed nothing.

    `sqlstate`: PostgreSQL's code of the error, five characters.
    """

    def __init__(self, message: str, sqlstate: str) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate

    @property
    def is_fault(self) -> bool:
        """Whether the machine, the server or another session is at fault. If not, this is a bug."""
        return self.sqlstate[:2] in _FAULTS or self.sqlstate == _READ_ONLY


# Classes of errors in PostgreSQL's list: connection, rollback by the server, resources, limits,
# objects in use, an operator's intervention, the system, the configuration file, internal.
_FAULTS: Final = frozenset({"08", "40", "53", "54", "55", "57", "58", "F0", "XX"})
_READ_ONLY: Final = "25006"  # this server has become a standby


class Lost(StoreOutage):
    """The connection has ended, or its session must not be used any more."""


def refused(result: pq.abc.PGresult) -> StatementRefused:
    """Return the error that a result reports."""
    state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
    message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"no message"
    return StatementRefused(message.decode("utf-8", "replace"), state.decode())


def is_error(result: pq.abc.PGresult) -> bool:
    """Return whether a statement failed, or was skipped because an earlier one failed."""
    return result.status not in _FINE


def ends_session(result: pq.abc.PGresult) -> bool:
    """Return whether the server ends the session with this error."""
    return result.error_field(pq.DiagnosticField.SEVERITY_NONLOCALIZED) in (b"FATAL", b"PANIC")


_FINE: Final = frozenset(
    {pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.PIPELINE_SYNC}
)


class Connection:
    """A connection whose calls block the caller's thread until their result has arrived."""

    def __init__(self, opened: pq.abc.PGconn, on_warning: Callable[[str], None]) -> None:
        self.opened = opened
        self._prepared: set[bytes] = set()
        self._rows = Transformer()

        def note(result: pq.abc.PGresult) -> None:
            severity = result.error_field(pq.DiagnosticField.SEVERITY_NONLOCALIZED)
            if severity == b"WARNING":
                on_warning(str(refused(result)))

        opened.notice_handler = note

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended, as far as this side knows."""
        return self.opened.status != pq.ConnStatus.OK

    def command(self, text: str, *values: bytes | None) -> list[Row]:
        """Return the rows of a statement given as text. Raises `StatementRefused` and `Lost`."""
        try:
            result = self.opened.exec_params(text.encode(), values)
        except Error as error:  # the connection had ended before
            raise Lost(f"{error}".strip()) from error
        return self._rows_or_error(result)

    def read(self, statement: Statement, values: Values) -> list[Row]:
        """Return the rows of a statement. Raises `StatementRefused` and `Lost`."""
        try:
            if statement.name not in self._prepared:
                prepared = self.opened.prepare(statement.name, statement.text)
                self._rows_or_error(prepared)
                self._prepared.add(statement.name)
            # None is the value null, although the library's annotation does not allow it.
            result = self.opened.exec_prepared(statement.name, values)  # type: ignore[arg-type]
        except Error as error:  # the connection had ended before
            raise Lost(f"{error}".strip()) from error
        return self._rows_or_error(result)

    def _rows_or_error(self, result: pq.abc.PGresult) -> list[Row]:
        if is_error(result):
            if self.is_lost:
                raise Lost(self.opened.get_error_message().strip())
            raise refused(result)
        return rows_of(result, self._rows) if result.status == pq.ExecStatus.TUPLES_OK else []

    def pipeline(self, steps: Sequence[tuple[Statement, Values]]) -> list[pq.abc.PGresult]:
        """Send all steps in one round trip; return their results up to the first error.

        That error is the last result. If a statement could not be prepared, the result of its step
        is the error of the preparation. Raises `Lost`.
        """
        opened = self.opened
        try:
            opened.enter_pipeline_mode()
            fresh: list[bool] = []
            for statement, values in steps:
                is_new = statement.name not in self._prepared
                if is_new:
                    opened.send_prepare(statement.name, statement.text)
                    self._prepared.add(statement.name)
                fresh.append(is_new)
                opened.send_query_prepared(statement.name, values)
            opened.pipeline_sync()
            self._send_all()
            return self._results(steps, fresh)
        except Error as error:
            self._prepared.clear()
            raise Lost(f"{error}".strip()) from error
        finally:
            with suppress(Error):
                opened.exit_pipeline_mode()

    def _results(
        self, steps: Sequence[tuple[Statement, Values]], fresh: Sequence[bool]
    ) -> list[pq.abc.PGresult]:
        found: list[pq.abc.PGresult] = []
        failed = False
        for (statement, _), is_new in zip(steps, fresh, strict=True):
            if is_new:
                prepared = self._next()
                if is_error(prepared):
                    self._prepared.discard(statement.name)
                    if not failed:
                        found.append(prepared)
                        failed = True
            result = self._next()
            if not failed:
                found.append(result)
                failed = is_error(result)
        self._wait()
        synced = self.opened.get_result()
        if synced is None or synced.status != pq.ExecStatus.PIPELINE_SYNC:
            raise Lost(self.opened.get_error_message().strip() or "the pipeline has no end")
        return found

    def _next(self) -> pq.abc.PGresult:
        """Return the result of the next statement in the pipeline. Raises `Lost`."""
        self._wait()
        result = self.opened.get_result()
        if result is None or self.is_lost:
            raise Lost(self.opened.get_error_message().strip() or "the connection has ended")
        self._wait()
        while self.opened.get_result() is not None:
            self._wait()
        return result

    def _send_all(self) -> None:
        """Send what is buffered. Other threads run meanwhile."""
        opened = self.opened
        opened.nonblocking = 1
        try:
            while opened.flush():
                # The server may take nothing more until this side has read its results.
                wait = select.poll()
                wait.register(opened.socket, select.POLLIN | select.POLLOUT)
                wait.poll()
                opened.consume_input()
        finally:
            opened.nonblocking = 0

    def _wait(self) -> None:
        """Return once `get_result` can return without waiting. Other threads run meanwhile.

        `get_result` itself keeps the interpreter's lock while it waits for the server, so the event
        loop would stand still for as long as a commit takes.
        """
        opened = self.opened
        if opened.is_busy():
            wait = select.poll()
            wait.register(opened.socket, select.POLLIN)
            while opened.is_busy():
                wait.poll()
                opened.consume_input()

    def close(self) -> None:
        self.opened.finish()
