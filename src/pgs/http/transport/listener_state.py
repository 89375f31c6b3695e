"""The state of one listener: its open and idle connections, whether it stops, and its limits.

hypercorn takes it as its configuration.
"""

from collections.abc import Callable
from math import inf
from typing import Protocol

import trio
from hypercorn.config import Config

from pgs.http.transport.asgi import Headers, OnEvent
from pgs.http.transport.lane import Lane
from pgs.http.transport.limits import ServerLimits


class Connection(Protocol):
    """What a listener needs of an open connection."""

    def begin_stop(self) -> None: ...

    def sweep(self, now: float) -> None: ...

    def give_way(self) -> None: ...


Refuse = Callable[[str, str, int], tuple[int, Headers, bytes]]
"""Answers a request that the parser refused. Takes its method, its path and the parser's status;
returns the response's status, headers and body."""


class GuardedConfig(Config):
    """hypercorn's configuration for one listener, and the state that its connections share.

    `open`: the open connections. `idle`: those that wait for a request, the longest waiting first;
    the dict is used as an ordered set. `stopping`: whether a stop has begun. `grace_ends`: the time
    on trio's clock until which a stop waits for requests in flight. `lane`: takes the
    requests with plain heads; if it is None, hypercorn takes all.
    """

    def __init__(
        self,
        limits: ServerLimits,
        on_event: OnEvent,
        max_connections: int,
        refuse: Refuse | None = None,
        lane: Lane | None = None,
    ) -> None:
        self.limits = limits
        self.lane = lane
        self.refuse = refuse
        self.on_event = on_event
        self.max_connections = max_connections
        self.open: set[Connection] = set()
        self.idle: dict[Connection, None] = {}
        self.stopping = False
        self.grace_ends = inf
        self.accesslog = None
        self.errorlog = None
        self.include_server_header = False
        self.alpn_protocols = ["http/1.1"]
        self.h11_max_incomplete_size = limits.head_bytes
        self.keep_alive_max_requests = limits.requests_per_connection
        self.graceful_timeout = limits.grace_s
        self.startup_timeout = limits.startup_s
        self.shutdown_timeout = limits.shutdown_s
        self.websocket_ping_interval = limits.websocket_ping_s
        self.websocket_max_message_size = limits.websocket_message_chars

    def has_room(self) -> bool:
        """Return whether one more connection may be served.

        If all places are taken, the connection that has been idle for longest is closed.
        """
        if self.stopping:
            return False
        if len(self.open) < self.max_connections:
            return True
        longest = next(iter(self.idle), None)
        if longest is None:
            return False
        del self.idle[longest]
        self.open.discard(longest)
        longest.give_way()
        self.on_event("connection_gave_way")
        return True

    def begin_stop(self) -> None:
        """End idle connections now, and give requests in flight the grace period."""
        self.stopping = True
        self.grace_ends = trio.current_time() + self.limits.grace_s
        for connection in self.open:
            connection.begin_stop()

    async def sweep(self) -> None:
        """Until cancelled, enforce the time limits of the lane, and ping its WebSockets."""
        while True:
            await trio.sleep(self.limits.sweep_s)
            now = trio.current_time()
            for connection in tuple(self.open):
                connection.sweep(now)
