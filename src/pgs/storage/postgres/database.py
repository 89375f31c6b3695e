"""A database of PostgreSQL: the session that writes it, and the connections that read it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import structlog
import trio
from psycopg import conninfo, pq

from pgs.config import KEY_FILE_NAME
from pgs.domain.plurals import the_last
from pgs.storage.backup import BadTarget
from pgs.storage.bulk import finish
from pgs.storage.data_folder import DataLock, DataRefused
from pgs.storage.database import SINCE_MAX
from pgs.storage.database_mark import DamagedMark, Mark, OpenMark, read_mark
from pgs.storage.ledger import FAULTS_LISTED, check_ledger
from pgs.storage.pauses import no_pause, pause
from pgs.storage.postgres.blocking_reader import BlockingReader
from pgs.storage.postgres.bulk_connections import BulkConnections
from pgs.storage.postgres.checks import faults_of
from pgs.storage.postgres.commit_count import CommitCount
from pgs.storage.postgres.commits import PostgresCommits
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection, Lost, StatementRefused
from pgs.storage.postgres.fail_overs import LATE_S, leave_old_primaries
from pgs.storage.postgres.hosts import primary_elsewhere
from pgs.storage.postgres.identity import DatabaseIdentity, advance_feeds, judge, judge_new
from pgs.storage.postgres.lease import number_of
from pgs.storage.postgres.migrating import has_schema, migrate, migrations_of
from pgs.storage.postgres.node_writer import NodeCommits, NodeWriter
from pgs.storage.postgres.notices import LOOK_S, Notices
from pgs.storage.postgres.reader import PipelineReader
from pgs.storage.postgres.session import PRESENCE, WriterSession, WritingSession
from pgs.storage.postgres.statements import literals
from pgs.storage.reader import Reader
from pgs.storage.transactions import StoreOutage
from pgs.storage.writer import Writer

READS: Final = {
    "default_transaction_isolation": r"repeatable\ read",
    "default_transaction_read_only": "on",
}

log = structlog.get_logger("pgs.storage")


class PostgresDatabase:
    """A database of PostgreSQL, opened by a service that may write it: the only one, or a node.

    The data folder holds the service's lock, the key ring, the operator's socket, and a mark that
    says how many commits the database must hold at least.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        inline: bool = False,
        key_file: Path | None = None,
        on_locked: Callable[[bool], None] = lambda is_new: None,
        node: str = "",
    ) -> None:
        """Lock the folder and the database, bring the schema up to date, and open the connections.

        `node` is the name of this node among several; the other arguments are those of
        `SqliteDatabase`. Raises `DataFolderInUse`, `DatabaseInUse`, `DataRefused`, `SchemaNewer` or
        `StoreOutage`.
        """
        self.inline = inline
        self.bulk_limit = trio.CapacityLimiter(1)
        self.check_limit = trio.CapacityLimiter(1)
        self.digest_limit = trio.CapacityLimiter(1)
        self.since_limit = trio.CapacityLimiter(SINCE_MAX)
        self._url, self._name = url, _name_of(folder)
        self._count = CommitCount(node)
        self._number = number_of(node) if node else 0
        self.nodes: NodeWriter | None = None  # the writer, if this is one of several nodes
        self._bulk = BulkConnections(self._here, self._connect_in_bulk)
        self._lost: str | None = None
        self._watching = trio.CancelScope()  # cancels the task `_leave_old_primaries`
        self._loop: trio.lowlevel.TrioToken | None = None  # None until `start`
        with ExitStack() as undo:
            self._lock = DataLock(folder)
            undo.callback(self._lock.release)
            mark = _mark_in(folder)
            session = WriterSession(url, self._name, 1, self._number)
            undo.callback(session.end)
            self._address = session.address
            self._moved_to: dict[str, str] | None = None
            self._refuse_a_pooler()
            undo.callback(self._bulk.renew)
            identity = self._prepare(session, mark, key_file or folder / KEY_FILE_NAME, on_locked)
            judge(mark, identity, self._count.held(session.connection))
            self._commits = session.confirm(self._count.first_commit)
            self._is_copy = identity.is_copy
            try:
                self._mark = OpenMark(folder, Mark("open", identity.number, self._commits))
            except OSError as error:
                raise StoreOutage(f"the mark cannot be written: {error}") from error
            undo.callback(self._mark.close, properly=False)
            self._pipeline = None if inline else PipelineReader(self._connect_to_read)
            self.notices = None if inline else Notices(self._connect_to_listen, self._name)
            self.reader: Reader = self._pipeline or self.second_reader()
            if node:
                self.nodes = NodeWriter(NodeCommits(session, self._reopen, self, self._count))
                self.nodes.on_opened = self._reconnect_reads
                self.writer: Writer = self.nodes
            else:
                self._alone = PostgresCommits(session, self._reopen, self, self._count)
                self.writer = Writer(self._alone, inline=inline)
            self._session = session
            undo.pop_all()

    def _prepare(
        self,
        session: WriterSession,
        mark: Mark | None,
        key_file: Path,
        on_locked: Callable[[bool], None],
    ) -> DatabaseIdentity:
        try:
            is_new = not has_schema(session.connection)
            if is_new:
                judge_new(mark, key_file)
            on_locked(is_new)
            migrate(session.connection)
            return DatabaseIdentity.of(session.connection)
        except (Lost, StatementRefused) as error:
            raise StoreOutage(f"the database cannot be opened: {error}") from error

    def _refuse_a_pooler(self) -> None:
        """Make sure that a lock belongs to its session. Raises `StoreOutage`.

        Through a pooler that shares sessions, several services would hold the same lock.
        """
        other = self._bulk.take()
        try:
            ((taken,),) = other.command(
                "select pg_try_advisory_lock($1::int, $2::int)",
                *literals([PRESENCE, self._number]),
            )
        finally:
            self._bulk.give_back(other)
        if taken:
            raise StoreOutage(
                "PGS_DATABASE_URL leads to a pooler that shares sessions: name the server itself"
            )

    def _reopen(self) -> WriterSession:
        """Return the next session of the writer. Raises `StoreOutage`.

        Once commits are missing, every further try is refused: a write would raise the count of
        commits, and so hide that some are missing.
        """
        if self._lost is not None:
            raise StoreOutage(self._lost)
        number = self._session.number + 1
        last = self._moved_to or self._address
        self._moved_to = None
        session = WriterSession(self._url, self._name, number, self._number, last)
        try:
            held = self._count.held(session.connection)
            if held < self._commits:
                self._lost = (
                    f"the database lacks {the_last(self._commits - held, 'commit')}: it fell back "
                    "to an older state. Stop the service; `pgs db accept-loss` goes on without them"
                )
                raise StoreOutage(self._lost)
            session.confirm(self._count.first_commit)
        except (Lost, StatementRefused) as error:
            session.close()
            raise StoreOutage(str(error)) from error
        except BaseException:
            session.close()
            raise
        self._session, self._address = session, session.address
        if self._loop is not None and self.nodes is None:  # a node does this in `on_opened`
            with suppress(trio.RunFinishedError):
                self._loop.run_sync_soon(self._reconnect_reads)
        log.warning("session_opened", number=session.number)
        return session

    def committed(self, commits: int) -> None:
        """Note how many commits of the writer the database holds now."""
        self._commits = commits
        self._mark.follow(commits)

    def start(self) -> None:
        """Start the writer and the reader; call it inside the trio run."""
        self.writer.start()
        if self._pipeline is not None and self.notices is not None:
            self._loop = trio.lowlevel.current_trio_token()
            self._pipeline.start()
            self.notices.start()
            if self.nodes is None:  # the keeper of a node watches its own beats
                trio.lowlevel.spawn_system_task(self._leave_old_primaries)

    async def _leave_old_primaries(self) -> None:
        with suppress(trio.Cancelled), self._watching:
            await leave_old_primaries(
                self._late_session, self.is_primary_elsewhere, self._alone.cut
            )

    def _late_session(self) -> WritingSession | None:
        session = self._session
        late = self.writer.longest_wait() >= LATE_S and self._alone.uses(session)
        return session if late else None

    async def wait_for_changes(self) -> None:
        """Return when another node tells of a change, and after `LOOK_S` in any case."""
        if self.notices is None:
            await trio.sleep_forever()
        else:
            with trio.move_on_after(LOOK_S):
                await self.notices.wait()

    def lost(self) -> str | None:
        """Return which part of the database was lost, and what to do; None if nothing was lost."""
        return self._lost

    def take_over(self, now: int) -> bool:
        """Advance every feed's head if this is the first start on a dump; return whether it is."""
        if not self._is_copy:
            return False
        try:
            advance_feeds(self._session.connection, now)
        except (Lost, StatementRefused) as error:
            raise StoreOutage(f"the restored copy cannot be taken over: {error}") from error
        log.info("restored", database=self._address["host"])
        return True

    def _reconnect_reads(self) -> None:
        """Open new connections for reads: the old ones may lead to an outdated server."""
        self._bulk.renew()
        if self._pipeline is not None and self.notices is not None:
            self._pipeline.reconnect()
            self.notices.reconnect()

    def _connect_to_read(self) -> pq.abc.PGconn:
        # The same server as the writer's: another one may not have its last commits yet.
        return connect(self._here(), f"{self._name} reads", **READS)

    def _connect_to_listen(self) -> pq.abc.PGconn:
        return connect(self._here(), f"{self._name} listens")

    def _here(self) -> str:
        """Return an address that names only the writer's server."""
        return conninfo.make_conninfo(self._url, **self._address)

    def _connect_in_bulk(self, address: str) -> pq.abc.PGconn:
        return connect(address, f"{self._name} bulk", **READS, statement_timeout="0")

    def second_reader(self) -> Reader:
        """Return a reader for a bulk read, which blocks its thread; the caller closes it."""
        return BlockingReader(self._bulk.take(), self._bulk.give_back)

    def migrations(self) -> list[str]:
        """Return the names of the migrations applied, in order. Raises `StoreOutage`."""
        return self._on_a_connection(migrations_of)

    def faults(self) -> list[str]:
        """Return what the server knows of damaged pages and indexes. Raises `StoreOutage`."""
        return self._on_a_connection(faults_of)

    def watch(self) -> Connection:
        """Return a connection to the writer's server, for looks at other nodes."""
        return Connection(connect(self._here(), f"{self._name} watch"), lambda warning: None)

    def is_primary_elsewhere(self) -> bool:
        """Return whether another host confirms commits now.

        If so, the next session asks that host first.
        """
        self._moved_to = primary_elsewhere(self._url, self._name, self._address)
        return self._moved_to is not None

    def _on_a_connection(self, work: Callable[[Connection], list[str]]) -> list[str]:
        connection = self._bulk.take()
        try:
            return work(connection)
        except StatementRefused as error:
            raise StoreOutage(str(error)) from error
        finally:
            self._bulk.give_back(connection)

    def all_faults(self) -> list[str]:
        """Return the faults of pages, indexes and ledgers. Raises `StoreOutage`."""
        reader = self.second_reader()
        try:
            report = finish(check_ledger(reader, no_pause if self.inline else pause))
        finally:
            reader.close()
        return [*self.faults(), *report.faults()][:FAULTS_LISTED]

    def back_up(self, folder: Path, copy_keys: Callable[[Path], None]) -> Path:
        """Refuse: PostgreSQL has its own backups. Raises `BadTarget`."""
        raise BadTarget(
            "this service keeps its database in PostgreSQL: back it up with pg_dump or with the "
            "backups of its server, and keep a copy of the key ring apart from it"
        )

    def close(self) -> None:
        """Finish the commits under way, close, and release the folder.

        If a commit hangs, the folder stays locked, since that commit may still succeed.
        """
        self.reader.close()
        self._watching.cancel()
        if self.notices is not None:
            self.notices.close()
        ended = self.writer.close()
        self._bulk.renew()
        if ended:
            self._mark.close(properly=self._lost is None)
            self._lock.release()


def _name_of(folder: Path) -> str:
    """Return the name of the writer's sessions: the same for each process on this folder.

    PostgreSQL cuts names at 63 bytes.
    """
    machine = os.uname().nodename
    place = hashlib.sha256(machine.encode() + b"\0" + bytes(folder.resolve())).hexdigest()
    return f"pgs {machine[:24]} {place[:16]}"


def _mark_in(folder: Path) -> Mark | None:
    try:
        return read_mark(folder)
    except DamagedMark as error:
        raise DataRefused(
            f"the mark in {folder} is damaged ({error}), so nobody knows whether the database is "
            "complete. If a loss is accepted, run `pgs db accept-loss`"
        ) from error
