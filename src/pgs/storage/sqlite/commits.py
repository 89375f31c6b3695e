"""Commits groups of transactions to SQLite."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from typing import Protocol

import outcome

from pgs.storage.queries import QUERIES, STATEMENTS
from pgs.storage.sqlite.connections import LOG_PAGES
from pgs.storage.sqlite_driver import (
    FAULTS,
    Connection,
    is_bug,
    is_damage,
    is_failed_sync,
    is_taken,
    write_back,
    write_back_with,
)
from pgs.storage.transactions import Outcome, OutcomeUnknown, Tx, WriteFailed
from pgs.storage.writer import Job, answer, log_error

LAST_LINE_S = 0.25
"""Seconds for which the process waits before it ends itself after a failed sync. In this time the
service writes a line about the failure into the log that operators read."""


class _Conflict(Exception):
    pass


class Guard(Protocol):
    """Checks the files that the writer writes, and receives the number of its commits."""

    def lost(self) -> str | None:
        """Return why nothing may be written to the open files, or None."""

    def writing_back(self) -> None:
        """Note that the database's file is written from now until `committed`."""

    def committed(self, commits: int) -> None:
        """Note how many commits the database holds now."""


class SqliteCommits:
    """Commits on one connection.

    If a statement of a group fails, the group's transactions are committed one by one.
    """

    def __init__(self, connection: Connection, guard: Guard) -> None:
        self._connection = connection
        # `Connection.execute` makes a cursor for each statement, which takes as long as binding the
        # statement's values.
        self._cursor = connection.cursor()
        self._guard = guard
        write_back_with(connection, self._write_back, LOG_PAGES)
        self.damaged = False
        self.session = 0  # a file has no sessions

    def commit(self, jobs: Sequence[Job]) -> None:
        """Commit all jobs together. If a statement fails, commit each job separately instead.

        If the commit itself fails, no job is tried again, since the commit may be on disk.
        """
        if lost := self._guard.lost():
            answer(jobs, WriteFailed, lost)
            return
        try:
            self._connection.execute("begin immediate")
            outcomes = [self._execute(job.tx) for job in jobs]
            (commits,) = QUERIES["heartbeat.count_write"](self._connection)
        except Exception as error:
            self._look_at(error)
            self.abandon()
            if len(jobs) == 1:
                jobs[0].result = _verdict(jobs[0].tx, error)
            else:
                for job in jobs:
                    self.commit([job])
            return
        if Outcome.COMMITTED not in outcomes:
            self.abandon()
            for job in jobs:
                job.result = outcome.Value(Outcome.CONFLICT)
            return
        try:
            self._connection.execute("commit")
        except Exception as error:
            log_error("commit_failed", error, transactions=len(jobs))
            self._look_at(error)
            self.abandon()
            answer(jobs, OutcomeUnknown, str(error))
            return
        self._guard.committed(commits)
        if lost := self._guard.lost():  # this commit may be in the lost file
            answer(jobs, OutcomeUnknown, lost)
            return
        for job, result in zip(jobs, outcomes, strict=True):
            job.result = outcome.Value(result)

    def _write_back(self) -> None:
        """Write the log back into the database's file. If that fails, the next commit repeats it.

        The guard notes this first, because a kill may leave a database file that has changed after
        the last noted commit. Without the note, the next start would conclude that somebody has
        overwritten the file, and would refuse it.
        """
        self._guard.writing_back()
        try:
            write_back(self._connection)
        except FAULTS as error:
            self._look_at(error)

    def _look_at(self, error: Exception) -> None:
        """Note damage. End the process after a failed sync: only a restart reads the disk again."""
        if is_failed_sync(error):
            log_error("sync_failed", error)
            threading.Event().wait(LAST_LINE_S)
            os.kill(os.getpid(), signal.SIGKILL)
        if is_damage(error):
            self.damaged = True

    def _execute(self, tx: Tx) -> Outcome:
        """Execute the statements of a transaction.

        If the first statement conflicts, it has changed nothing, so the group goes on. If a later
        one conflicts, this raises, because SQLite must roll back the statements before it.
        """
        execute, changes = self._cursor.execute, self._connection.changes
        is_first = True
        for stmt in tx.stmts:
            statement = STATEMENTS[stmt.name]
            if not statement.writes:
                raise TypeError(f"{stmt.name} writes nothing")
            try:
                execute(statement.text, statement.values(stmt.params))
            except Exception as error:
                if is_first and is_taken(error):
                    return Outcome.CONFLICT
                raise
            touched = changes()
            if stmt.expected_rows is not None and touched != stmt.expected_rows:
                if is_first and touched == 0:
                    return Outcome.CONFLICT
                raise _Conflict(stmt.name)
            is_first = False
        return Outcome.COMMITTED

    def abandon(self) -> None:
        """Roll back the open transaction, if there is one."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
        except FAULTS as error:
            log_error("rollback_failed", error)

    def close(self) -> None:
        self._guard.writing_back()
        self._connection.close()


def _verdict(tx: Tx, error: Exception) -> outcome.Value[Outcome] | outcome.Error:
    """Return the outcome of a transaction whose statements failed, before its commit."""
    if isinstance(error, _Conflict) or is_taken(error):
        return outcome.Value(Outcome.CONFLICT)
    log_error("write_failed", error, partner_id=tx.partner_id)
    return outcome.Error(error if is_bug(error) else WriteFailed(str(error)))
