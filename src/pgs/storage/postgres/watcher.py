"""A node's looks at the other nodes, over a connection of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
import trio

from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection, StatementRefused
from pgs.storage.postgres.lease import Look, Seen
from pgs.storage.transactions import StoreOutage

LOOK_LIMIT_S: Final = 3.0
"""Seconds after which a look is given up, with its connection."""

log = structlog.get_logger("pgs.nodes")


class Watcher:
    """Looks at the nodes and ends silent sessions. After a failed look it opens a new connection.

    `connect` opens a connection to the server of the writer.
    """

    def __init__(self, node: str, connect: Callable[[], Connection]) -> None:
        self._node = node
        self._connect = connect
        self._connection: Connection | None = None

    async def look(self) -> Look | None:
        """Return what the database shows of the nodes; None if the look has failed."""
        try:
            with trio.fail_after(LOOK_LIMIT_S):
                connection = await self._opened()
                return await trio.to_thread.run_sync(lease.look, connection, abandon_on_cancel=True)
        except trio.TooSlowError:
            self._connection = None  # a thread still uses it
        except (StoreOutage, StatementRefused) as error:
            log.warning("look_failed", node=self._node, error=str(error))
            self.close()
        return None

    async def end_session(self, node: Seen) -> bool:
        """End a node's session if it is still the one that was seen; return whether it ended.

        Raises `StoreOutage` and `StatementRefused`.
        """
        return await trio.to_thread.run_sync(lease.end_session, await self._opened(), node)

    def close(self) -> None:
        """Close the connection, if one is open."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = await trio.to_thread.run_sync(self._connect)
        return self._connection
