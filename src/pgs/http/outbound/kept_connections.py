"""Connections to endpoints that are kept for the next try at the same endpoint.

A handshake takes most of a try's processor time. An endpoint that gets one nudge after the other
therefore gets them over the same connection. Keeping a connection does not keep its address: each
try looks up and checks the endpoint's addresses anew, and a kept connection is used only if its
address is one of them.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import trio

from pgs.http.outbound.backend import PinnedStream

IDLE_S: Final = 1.5
"""Seconds for which an idle connection is kept. Common servers keep one for 2 to 75 s, so a request
seldom meets a closing one."""

WAIT_S: Final = 0.5
"""Seconds that a try may wait for a new connection. After that, idle connections to its endpoint
are closed, and none is kept until the try is connected. A small server serves only a few
connections at a time, so the try may be waiting for those to end. A try has 2 s to connect."""

AGE_S: Final = 300.0
"""Seconds after its handshake in which a connection is used. The endpoint's certificate is checked
only in the handshake."""

KEPT_EACH: Final = 8
"""Connections that are kept to one host and port: one for each nudge that an endpoint may get at
the same time."""

KEPT_MAX: Final = 256
"""Connections that are kept to all endpoints. Each takes some 30 kB of memory."""

Endpoint = tuple[bytes, int]
"""The host and the port of an endpoint."""


class Connection:
    """A connection to an endpoint. It carries one request at a time.

    `address` is the one that it is made to. `opened_at` is on trio's clock.
    """

    def __init__(self, address: str, stream: PinnedStream) -> None:
        self.address = address
        self.stream = stream
        self.opened_at = self.idle_since = trio.current_time()


class KeptConnections:
    """The idle connections to all endpoints."""

    def __init__(self) -> None:
        self._idle: dict[Endpoint, list[Connection]] = {}  # the newest idle one is last
        self._count = 0
        self._connecting: dict[Endpoint, list[float]] = {}  # since when; the oldest time is first
        self._closed = False

    def __len__(self) -> int:
        return self._count

    def take(self, endpoint: Endpoint, addresses: Collection[str]) -> Connection | None:
        """Return a connection for a request, or None if no kept one may be used.

        `addresses` are the allowed ones of the endpoint at this moment. Kept connections are
        checked from the newest on, up to the first that may be used; those before it are closed.
        """
        kept = self._idle.pop(endpoint, [])
        while kept:
            connection = kept.pop()
            self._count -= 1
            if _is_usable(connection, addresses):
                if kept:
                    self._idle[endpoint] = kept
                connection.stream.begin_exchange()
                return connection
            connection.stream.close()
        return None

    @contextmanager
    def connecting(self, endpoint: Endpoint) -> Iterator[None]:
        """Count the block as a try that waits for a new connection."""
        waiting, since = self._connecting.setdefault(endpoint, []), trio.current_time()
        waiting.append(since)
        try:
            yield
        finally:
            waiting.remove(since)
            if not waiting:
                del self._connecting[endpoint]

    def keep(self, endpoint: Endpoint, connection: Connection) -> None:
        """Keep a connection whose response has been read to its end, or close it."""
        now = trio.current_time()
        kept = self._idle.get(endpoint, [])
        is_old = now >= connection.opened_at + AGE_S
        if self._closed or is_old or len(kept) >= KEPT_EACH or self._is_short(endpoint, now):
            connection.stream.close()
            return
        if self._count >= KEPT_MAX:
            self._close_oldest()
        connection.idle_since = now
        self._idle.setdefault(endpoint, []).append(connection)
        self._count += 1

    def close_idle(self) -> None:
        """Close the connections that have been idle for `IDLE_S`.

        If a try has waited for `WAIT_S` for a new connection to an endpoint, all idle ones to that
        endpoint are closed.
        """
        now = trio.current_time()
        for endpoint, kept in list(self._idle.items()):
            limit = now if self._is_short(endpoint, now) else now - IDLE_S
            while kept and kept[0].idle_since <= limit:
                self._close_first(endpoint)

    def close(self) -> None:
        """Close all idle connections, and keep none from now on."""
        self._closed = True
        for endpoint, kept in list(self._idle.items()):
            while kept:
                self._close_first(endpoint)

    def _is_short(self, endpoint: Endpoint, now: float) -> bool:
        """Return whether a try has waited for its connection to the endpoint for `WAIT_S`."""
        waiting = self._connecting.get(endpoint)
        return waiting is not None and waiting[0] + WAIT_S <= now

    def _close_oldest(self) -> None:
        self._close_first(min(self._idle, key=lambda each: self._idle[each][0].idle_since))

    def _close_first(self, endpoint: Endpoint) -> None:
        """Close the connection to an endpoint that has been idle for longest."""
        kept = self._idle[endpoint]
        kept.pop(0).stream.close()
        self._count -= 1
        if not kept:
            del self._idle[endpoint]


def _is_usable(connection: Connection, addresses: Collection[str]) -> bool:
    now = trio.current_time()
    return (
        connection.address in addresses
        and now < connection.idle_since + IDLE_S
        and now < connection.opened_at + AGE_S
        and connection.stream.is_quiet()
    )
