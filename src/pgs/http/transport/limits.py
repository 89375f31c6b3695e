"""What one client may take of a listener: time, bytes, connections."""

from typing import Final

import msgspec

RESERVED_FILES: Final = 256
"""File descriptors that connections may not take: the database, the log, outgoing calls, the internal listener."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one listener; every `_s` in seconds. A stop takes at most `grace_s` + `shutdown_s` and a moment; 15 s are allowed."""

    max_connections: int = 10_000
    """Open at once. At about 35 kB for an idle WebSocket this is 350 MB. Fewer where the process may open fewer files."""

    backlog: int = 512
    """Connections that the kernel holds until they are accepted: half a second of a start-up's rush."""

    head_bytes: int = 16 * 1024
    """A request head that is not complete within this is refused; 8 KiB of target and common proxies' headers fit."""

    head_s: float = 10.0
    """From a head's first byte (for a new connection: from its begin) to its last, however it drips."""

    keep_alive_s: float = 75.0
    """Idle time between requests: longer than the 60 s of common proxies and pools, so that they close first and no request is lost."""

    read_s: float = 60.0
    """Silence while a request is served or a WebSocket open. Longer than the longest poll (25 s) and than two pings."""

    websocket_ping_s: float | None = 20.0
    """Between pings of an open WebSocket; a live client's pongs keep it from `read_s`."""

    websocket_message_chars: int = 64 * 1024
    """Above the application's own limit of 16 KiB, which it thus sees broken and answers in its own way."""

    websocket_flood_chars: int = 1024 * 1024
    """A message that goes on past this is not waited for any longer."""

    requests_per_connection: int = 10_000
    """After so many a connection is closed, so that a balancer in front can spread anew."""

    send_s: float = 5.0
    """For 64 KiB to leave towards the client."""

    linger_s: float = 2.0
    """How long a closing connection's input is still read, so that a reset does not overtake the answer."""

    linger_bytes: int = 2 * 1024 * 1024
    """And how much: twice the largest body that is ever taken."""

    grace_s: float = 8.0
    """For requests in flight when a stop begins: longer than a command's 5 s and its commit."""

    startup_s: float = 30.0
    """For the application's own start-up."""

    shutdown_s: float = 2.0
    """For the application's own shutdown, after the last connection has ended."""
