"""Looks of one node at the others, over a separate connection and in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
import trio

from pgs.domain.leases import Sightings, may_end
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.lease import Look, Seen
from pgs.storage.transactions import StoreOutage

LOOK_S: Final = 0.25
"""Seconds between two looks at the other nodes. A node that hands shards over, or takes some, sends
a notice, so that the others look immediately."""

APART_S: Final = 0.01
"""Seconds that must pass between two looks, even if many notices come. A look takes a few
milliseconds."""

LOOK_LIMIT_S: Final = 3.0
"""Seconds after which a look is given up, with its connection. The same holds for a call that ends
another node's session. The opening of a look's connection is not cut short: it has a limit of its
own, `CONNECT_S` in `storage/postgres/connecting.py`."""

log = structlog.get_logger("pgs.nodes")


class Looks:
    """Looks of the node `name`. `watch` opens a connection to the server of the writer."""

    def __init__(self, name: str, watch: Callable[[], Connection]) -> None:
        self._name = name
        self._watch = watch
        self._connection: Connection | None = None
        self._session: object = None  # the session to whose server `_connection` leads
        self._taking = trio.CancelScope()
        self._hurried = trio.Event()

    def hurry(self) -> None:
        """Make `wait` return now, or once `APART_S` has passed since the last look."""
        self._hurried.set()

    async def wait(self) -> None:
        """Return when it is time for the next look."""
        await trio.sleep(APART_S)
        with trio.move_on_after(LOOK_S - APART_S):
            await self._hurried.wait()
        self._hurried = trio.Event()

    async def take(self, session: object) -> Look | None:
        """Return what the server of this node's `session` shows now; None if the look failed."""
        if self._session is not session:  # the connection may lead to another server
            self.close()
            self._session = session
        with trio.move_on_after(LOOK_LIMIT_S) as self._taking:
            try:
                if self._connection is None:
                    self._connection = await trio.to_thread.run_sync(self._watch)
                return await trio.to_thread.run_sync(
                    lease.look, self._connection, abandon_on_cancel=True
                )
            except (StoreOutage, StatementRefused) as error:
                log.warning("look_failed", node=self._name, error=str(error))
                self.close()
                return None
        self._connection = None  # a thread still uses the connection
        return None

    def give_up(self) -> None:
        """End the current look or call: its server may never answer."""
        self._taking.cancel()

    async def end_silent(
        self, seen: Look, sightings: Sightings, is_fresh: Callable[[], bool]
    ) -> int:
        """End the sessions of owners that make no beats; return how many were ended.

        `is_fresh` returns whether this node may itself answer from memory (see
        `pgs.domain.leases.may_end`).
        """
        count = 0
        for node in seen.nodes:
            name = node.node.name
            if node.pid is None or name not in seen.owners.values():
                continue  # a node that starts owns nothing, and does not beat yet
            if may_end(sightings, name, me=self._name, fresh=is_fresh()):
                ended = await self._end_session(node)
                if ended is not None:
                    count += ended
                    log.warning("silent_session_ended", of=name, ended=ended)
        return count

    async def _end_session(self, silent: Seen) -> bool | None:
        """End the session of a node; return whether it ended, None if that is not known."""
        if self._connection is None:
            return None
        with trio.move_on_after(LOOK_LIMIT_S) as self._taking:
            try:
                return await trio.to_thread.run_sync(
                    lease.end_session, self._connection, silent, abandon_on_cancel=True
                )
            except (StoreOutage, StatementRefused) as error:
                log.warning("session_not_ended", of=silent.node.name, error=str(error))
                return None
        self._connection = None  # a thread still uses it
        return None

    def close(self) -> None:
        """Close the connection; the next look opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
