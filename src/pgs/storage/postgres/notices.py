"""Tells other nodes of a change of accounts, tiers or terms, and hears of their changes.

A notice only makes a node look sooner: it looks every `LOOK_S` in any case. So if a notice is lost,
the node learns of the change up to `LOOK_S` later.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog
import trio
from psycopg import Error, pq

from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.lease import SHARDS_CHANNEL
from pgs.storage.postgres.statements import Statement, Values
from pgs.storage.transactions import StoreOutage

LOOK_S: Final = 2.0
"""Seconds between two looks for changes that another node has made. A look costs two short
queries."""

AGAIN_S: Final = 1.0
"""Seconds after which a connection for notices that has ended is opened again."""

_CHANNEL: Final = "pgs_changes"
_SHARDS: Final = SHARDS_CHANNEL.encode()

TOLD: Final = frozenset(
    {
        "accounts.insert_partner",
        "accounts.update_partner",
        "tiers.insert_revision",
        "tiers.insert_lock",
        "tiers.delete_lock",
        "terms.insert_terms",
    }
)
"""The statements that change what every node holds in memory. Every transaction that changes an
account contains one of the two that begin with `accounts`."""

TELL: Final[tuple[Statement, Values]] = (
    Statement(
        b"tell",
        f"select pg_notify('{_CHANNEL}', current_setting('application_name'))".encode(),
    ),
    [],
)
"""Sends a notice when its transaction commits. The notice has the name of the writer's session."""

log = structlog.get_logger("pgs.storage")


class Notices:
    """Notices of other nodes. They come over a separate connection that the event loop reads."""

    def __init__(self, connect: Callable[[], pq.abc.PGconn], own_name: str) -> None:
        """`connect` opens a connection. Notices of the writer `own_name` are ignored."""
        self._connect = connect
        self._own_name = own_name.encode()
        self._came = trio.Event()
        self.on_shards: Callable[[], None] = lambda: None
        """Called when another node hands shards over, or takes some."""
        self._running = trio.CancelScope()
        self._hearing = trio.CancelScope()
        self.heard = trio.Event()
        """Set once the first connection hears notices."""

    def start(self) -> None:
        """Start listening; call it inside the trio run."""
        trio.lowlevel.spawn_system_task(self._listen, name="pgs-notices")

    async def wait(self) -> None:
        """Return once a notice has arrived since the last return of `wait`."""
        await self._came.wait()
        self._came = trio.Event()

    def reconnect(self) -> None:
        """Listen over a new connection: the old one may lead to a server that has fallen behind."""
        self._hearing.cancel()

    def close(self) -> None:
        """Stop listening."""
        self._running.cancel()

    async def _listen(self) -> None:
        with suppress(trio.Cancelled), self._running:
            failing = False
            while True:
                try:
                    opened = await trio.to_thread.run_sync(self._open)
                    failing = False
                    with trio.CancelScope() as self._hearing:
                        await self._hear(opened)
                except (StoreOutage, StatementRefused, Error) as error:
                    if not failing:  # an outage would fill the log with the same line
                        log.warning("notices_not_heard", error=str(error).strip())
                    failing = True
                await trio.sleep(AGAIN_S)

    def _open(self) -> pq.abc.PGconn:
        opened = self._connect()
        try:
            for channel in (_CHANNEL, SHARDS_CHANNEL):
                Connection(opened, lambda _: None).command(f"listen {channel}")
        except BaseException:
            opened.finish()
            raise
        return opened

    async def _hear(self, opened: pq.abc.PGconn) -> None:
        """Note every notice until the connection ends. Raises psycopg's `Error`."""
        # A descriptor of our own: libpq closes its socket when it finds that the server has gone,
        # and the number could then belong to another file.
        socket = os.dup(opened.socket)
        try:
            self._came.set()  # notices may have been missed
            self.heard.set()
            while True:
                await trio.lowlevel.wait_readable(socket)
                opened.consume_input()
                while (notice := opened.notifies()) is not None:
                    if notice.extra == self._own_name:
                        continue
                    if notice.relname == _SHARDS:
                        self.on_shards()
                    else:
                        self._came.set()
        finally:
            os.close(socket)
            opened.finish()
