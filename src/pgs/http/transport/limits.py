"""The limits of a listener: the time, bytes and connections that clients may take."""

from typing import Final

import msgspec

RESERVED_FILES: Final = 1536
"""Descriptors of files that connections may not take, because others need some: the database, the
log, outgoing calls, the internal listener, up to 256 connections kept to endpoints, and up to 544
for calls to other nodes. If the process may open fewer than twice as many files, half of
the files that it may open are reserved instead."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one listener. Every `_s` is in seconds.

    A stop takes little more than `grace_s` + `shutdown_s`; 15 s are allowed.
    """

    max_connections: int = 10_000
    """Connections open at once. At about 35 kB for an idle WebSocket outside the lane they take 350
    MB. If the process may not open that many files, fewer are accepted."""

    backlog: int = 512
    """Connections that the kernel holds until they are accepted: as many as arrive in half a second
    of the rush after a start."""

    head_bytes: int = 16 * 1024
    """Bytes in which a request's head must be complete. A target of 8 KiB and the headers of common
    proxies fit."""

    head_s: float = 10.0
    """Seconds for a head to arrive, counted from its first byte. The first byte of a new connection
    must come within the same time."""

    keep_alive_s: float = 75.0
    """Seconds between two requests of a connection. Longer than the 60 s of common proxies and
    pools, so that they close first and no request is lost."""

    sweep_s: float = 1.0
    """Seconds between two checks of the time limits of connections in the lane. A limit may be
    exceeded by up to this time."""

    lane_body_s: float = 1.0
    """Seconds that the lane waits for a body before hypercorn takes the request over. A body that
    follows its head takes one round trip of the network."""

    read_s: float = 60.0
    """Seconds of silence while a request is served or a WebSocket is open. Longer than the longest
    poll (25 s) and than two pings."""

    websocket_ping_s: float | None = 20.0
    """Seconds between two pings of an open WebSocket. Each pong from the client restarts
    `read_s`."""

    websocket_message_chars: int = 64 * 1024
    """Characters of a WebSocket message. More than the application's own limit of 16 KiB, so that
    the application sees the breach and answers it."""

    websocket_flood_chars: int = 1024 * 1024
    """Characters of a WebSocket message after which the connection ends, because the client is
    flooding."""

    requests_per_connection: int = 10_000
    """Requests after which a connection is closed, so that a load balancer in front can distribute
    the clients again."""

    send_s: float = 5.0
    """Seconds for 64 KiB to be sent to the client. Any line that is fit for playing is faster."""

    linger_s: float = 2.0
    """Seconds for which a closing connection's input is still read, so that a reset does not
    overtake the answer."""

    linger_bytes: int = 2 * 1024 * 1024
    """Bytes of a closing connection's input that are read: 32 times the default limit of a
    body."""

    grace_s: float = 8.0
    """Seconds that requests in flight have when a stop begins. Only tests use this default: every
    listener of the service, the demo and the development issuer sets another value, such as
    `GRACE_S` in `serve`."""

    startup_s: float = 30.0
    """Seconds for the application behind the listener to start. A sound one takes milliseconds."""

    shutdown_s: float = 1.0
    """Seconds for the application to shut down after its last connection. This service's
    application has nothing left to do by then. This second is part of the 15 s that a stop may
    take."""


def connections_within(files: int) -> int:
    """Return how many connections a process can hold if it may open `files` files."""
    return max(1, files - min(RESERVED_FILES, files // 2))
