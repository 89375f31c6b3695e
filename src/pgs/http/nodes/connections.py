"""The connections over which this node sends calls to other nodes, one call at a time over each.

A connection is kept for the next call. httpcore's pool checks the state of every connection at each
call, so its cost grows with the square of the calls under way. Here a call checks only the
connection that it is about to take, the one that was used last. A forwarded WebSocket has a
connection of its own (`sockets.py`).
"""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpcore
import trio

CONNECTIONS_MAX: Final = 512
"""Connections for calls to other nodes at the same time. Each held call and each live stream keeps
one for as long as it lasts. Forwarded WebSockets have connections of their own, which do not count.
A proxy that learns the owners leaves few requests to forward."""

KEPT_MAX: Final = 32
"""Connections that are kept open without a request. They save a round trip each."""

KEPT_S: Final = 60.0
"""Seconds for which a connection is kept without a request. Less than the 75 s after which the
other node closes it, so that no request meets a closing connection."""

CONNECT_S: Final = 1.0
"""Seconds to connect to another node, or to wait until one of the connections is free. The nodes
are near each other, and a caller who is refused tries again."""


class NoRoom(Exception):
    """No connection became free within `CONNECT_S`."""


class Connections:
    """Connections to any number of nodes."""

    def __init__(self) -> None:
        self._room = trio.Semaphore(CONNECTIONS_MAX)
        # By host and port. The connection that was used last is at the end of its list.
        self._kept: dict[tuple[bytes, int], list[httpcore.AsyncHTTPConnection]] = defaultdict(list)

    @asynccontextmanager
    async def one(self, origin: httpcore.Origin) -> AsyncIterator[httpcore.AsyncHTTPConnection]:
        """Yield a connection for one call. Raises `NoRoom`.

        After a completed call the connection is kept for another call if fewer than `KEPT_MAX` are
        kept. In all other cases it is closed.
        """
        with trio.move_on_after(CONNECT_S) as limit:
            await self._room.acquire()
        if limit.cancelled_caught:
            raise NoRoom
        try:
            connection = await self._find(origin)
            try:
                yield connection
            finally:
                await self._give_back(origin, connection)
        finally:
            self._room.release()

    async def _find(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        kept = self._kept[origin.host, origin.port]
        while kept:
            connection = kept.pop()
            if not (connection.has_expired() or connection.is_closed()):
                return connection
            await _close(connection)
        return httpcore.AsyncHTTPConnection(origin, keepalive_expiry=KEPT_S)

    async def _give_back(
        self, origin: httpcore.Origin, connection: httpcore.AsyncHTTPConnection
    ) -> None:
        room = sum(map(len, self._kept.values())) < KEPT_MAX
        if room and connection.is_idle() and not connection.is_closed():
            self._kept[origin.host, origin.port].append(connection)
        else:
            await _close(connection)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        for kept in self._kept.values():
            while kept:
                await _close(kept.pop())


async def _close(connection: httpcore.AsyncHTTPConnection) -> None:
    with trio.CancelScope(shield=True):
        await connection.aclose()
