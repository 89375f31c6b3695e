"""The session over which a service, or one of several nodes, writes.

Its lock keeps a second service, or a second node of the same name, from writing.

The lock belongs to the session. When the session ends, its lock is released, and nothing that it
had not committed can be committed any more. So no write needs to ask whether the lock is still
held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from pgs.storage.postgres.connecting import SILENT_S, connect
from pgs.storage.postgres.connection import Connection, Lost, StatementRefused
from pgs.storage.postgres.hosts import hosts_of, primary_of, shut_after
from pgs.storage.postgres.statements import literals
from pgs.storage.transactions import StoreOutage

T = TypeVar("T")

PRESENCE: Final = 2
"""Class of the advisory locks of writers: the first of the two numbers that name such a lock."""

_HOLDER = (
    "select l.pid, coalesce(a.application_name, '') from pg_locks l "
    "left join pg_stat_activity a on a.pid = l.pid "
    "where l.locktype = 'advisory' and l.granted and l.objsubid = 2 "
    "and l.database = (select oid from pg_database where datname = current_database()) "
    "and l.classid = $1::int and l.objid = $2::int"
)

TRIES: Final = 40
"""Tries that are made for a lock while an older session of this service still holds it. After each
try the server is asked to end that session, and to wait for its end up to `ENDING_MS`."""

ENDING_MS: Final = 50
"""Milliseconds for which the server waits for a session that it was asked to end."""


class DatabaseInUse(StoreOutage):
    """Another service writes this database."""


class WritingSession(Protocol):
    """What the code that commits needs of a session. Tests provide it without a server.

    `number` counts the sessions of this process from 1. `warnings`: what the server has warned of
    since this list was last cleared.
    """

    number: int
    connection: Connection
    warnings: list[str]

    def release(self) -> None:
        """Give up every lock. Call it before `close` when nothing is left to write."""

    def close(self) -> None:
        """End the session."""


class WriterSession:
    """A session that holds the lock of writer `writer`, and so may write.

    `name` distinguishes the sessions of this service from those of others; an older session of the
    same name is ended. Raises `DatabaseInUse` and `StoreOutage`.
    """

    def __init__(
        self,
        url: str,
        name: str,
        number: int,
        writer: int = 0,
        last: Mapping[str, str] | None = None,
    ) -> None:
        """`writer` is the number of a node; 0 is a service without other nodes.

        All nodes also share lock 0. A service without other nodes holds lock 0 exclusively, so it
        cannot run beside a node. `last`: the `address` of the previous session.
        """
        self.number = number
        self.warnings: list[str] = []
        self._has_others = len(hosts_of(url)) > 1
        opened = connect(primary_of(url, name, last), name)
        self.connection = Connection(opened, self.warnings.append)
        try:
            self._take(name, "pg_try_advisory_lock", literals([PRESENCE, writer]))
            if writer:
                self._take(name, "pg_try_advisory_lock_shared", literals([PRESENCE, 0]))
            # Some servers are configured to acknowledge a commit before it is on disk.
            ((mode,),) = self.connection.command("show synchronous_commit")
            if mode == "off":
                self.connection.command("set synchronous_commit = on")
        except StatementRefused as error:
            self.close()
            raise StoreOutage(f"the database refuses this session: {error}") from error
        except BaseException:
            self.close()
            raise

    def _take(self, name: str, lock: str, key: list[bytes | None]) -> None:
        run = self.connection.command
        for _ in range(TRIES):
            ((taken,),) = run(f"select {lock}($1::int, $2::int)", *key)
            if taken:
                return
            for pid, holder in run(_HOLDER, *key):
                if holder != name:
                    raise DatabaseInUse(
                        f"another service ({holder or 'unnamed'}, session {pid}) writes this "
                        "database. Stop that one first"
                    )
                run("select pg_terminate_backend($1::int, $2)", *literals([pid, ENDING_MS]))
        raise DatabaseInUse("an older session of this service does not end")

    def confirm(self, commit: Callable[[WriterSession], T]) -> T:
        """Return the result of `commit`, the session's first commit.

        Its success proves that the session may write. If the address has several hosts, the session
        ends after `SILENT_S` without an answer: this server may have ceased to be the primary a
        moment ago. Raises what `commit` raises.
        """
        if not self._has_others:
            return commit(self)
        with shut_after(self.connection, SILENT_S):
            return commit(self)

    @property
    def address(self) -> dict[str, str]:
        """The host, IP address and port of this server, for connections that must reach it too.

        After a fail-over the name may lead to another server.
        """
        opened = self.connection.opened
        return {
            "host": opened.host.decode(),
            "hostaddr": opened.hostaddr.decode(),  # "" for a Unix socket
            "port": opened.port.decode(),
        }

    def release(self) -> None:
        """Give up every lock, so that another service can start as soon as this method returns.

        `close` alone would let the server release them later, once it has noticed that the client
        has gone. If the server does not answer within `SILENT_S`, the session ends.
        """
        with shut_after(self.connection, SILENT_S), suppress(Lost, StatementRefused):
            self.connection.command("select pg_advisory_unlock_all()")

    def end(self) -> None:
        """Give up every lock, and end the session. Call it when nothing is left to write."""
        self.release()
        self.close()

    def close(self) -> None:
        """End the session, and with it the lock."""
        self.connection.close()
