"""The public listener: hypercorn in a nursery of ours, with the guards of `pgs.http.transport.connection` around every connection."""

import resource
import socket
from collections.abc import Sequence

import hypercorn.trio.run
import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Sockets
from hypercorn.utils import LifespanTimeoutError

from pgs.http.transport.asgi import App, OnEvent, ignore_event
from pgs.http.transport.connection import GuardedServer
from pgs.http.transport.edge import Edge
from pgs.http.transport.guards import GuardedConfig
from pgs.http.transport.limits import RESERVED_FILES, ServerLimits

_log = structlog.get_logger("pgs.http")


def bind(listen: str, *, backlog: int = ServerLimits().backlog) -> socket.socket:
    """Return a listening socket for `host:port`, `[v6]:port` or `name:port`; port 0 takes a free one.

    ValueError where `listen` is none of these; OSError where the address cannot be had, for one because somebody else listens there.
    """
    host, separator, port = listen.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"an IPv6 address is written in brackets: {listen!r}")
    if not (separator and host and port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise ValueError(f"not host:port: {listen!r}")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, int(port), type=socket.SOCK_STREAM
    )[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(backlog)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


async def serve(
    app: App,
    sockets: Sequence[socket.socket],
    *,
    stop: trio.Event,
    limits: ServerLimits | None = None,
    on_event: OnEvent = ignore_event,
    task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serves the ASGI application on sockets from `bind` until `stop` is set, then ends in bounded time, whatever clients do.

    The application's lifespan starts first and ends last. `task_status` is given the base URLs once requests are taken. Once `stop` is
    set nothing is accepted, idle connections close at once, and requests in flight have `limits.grace_s`; whoever holds WebSockets
    closes them itself. `on_event` hears of `connection_refused`, `connection_crash`, `head_timeout`, `read_timeout`, `send_timeout`
    and `lifespan_timeout`. A lifespan that fails to start raises out of here.
    """
    limits = limits or ServerLimits()
    config = GuardedConfig(
        limits,
        on_event,
        _room_for(limits.max_connections),
        app.refuse if isinstance(app, Edge) else None,
    )

    async def stopped() -> None:
        await stop.wait()
        config.begin_stop()

    # worker_serve looks the class up in its own module.
    vars(hypercorn.trio.run).update(TCPServer=GuardedServer)
    try:
        await hypercorn.trio.run.worker_serve(
            ASGIWrapper(app),
            config,
            sockets=Sockets(secure_sockets=[], insecure_sockets=list(sockets), quic_sockets=[]),
            shutdown_trigger=stopped,
            task_status=task_status,
        )
    except* LifespanTimeoutError:
        on_event("lifespan_timeout")
        _log.warning("lifespan_timeout")


def _room_for(connections: int) -> int:
    """How many connections may be open at once: `connections`, or fewer where the system allows the process fewer files even when asked."""
    wanted = connections + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        soft = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == unlimited else max(1, min(connections, soft - RESERVED_FILES))
