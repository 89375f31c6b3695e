"""Runs a listener: hypercorn with a `GuardedServer` for every connection."""

import resource
import socket
from collections.abc import Sequence

import hypercorn.trio.run
import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Sockets
from hypercorn.utils import LifespanTimeoutError

from pgs.http.transport import inputs
from pgs.http.transport.asgi import App, OnEvent, ignore_event
from pgs.http.transport.edge import Edge
from pgs.http.transport.hypercorn_connection import GuardedServer
from pgs.http.transport.lane import Lane
from pgs.http.transport.limits import RESERVED_FILES, ServerLimits, connections_within
from pgs.http.transport.listener_state import GuardedConfig

_log = structlog.get_logger("pgs.http")


def bind(listen: str, *, backlog: int = ServerLimits().backlog) -> socket.socket:
    """Return a socket that listens on `host:port`, `[v6]:port` or `name:port`.

    Port 0 means any free port. Raises ValueError if `listen` has none of these forms, and OSError
    if the address cannot be used, for example because another process listens there.
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
    lane: bool = True,
    on_event: OnEvent = ignore_event,
    task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve the ASGI application on sockets from `bind` until `stop` is set.

    The application's lifespan starts first and ends last. If the application fails to start, its
    error is raised here. `task_status` is given the base URLs once requests are accepted.

    Once `stop` is set, no new connection is accepted, idle connections close immediately, and
    requests in flight have `limits.grace_s`. This therefore returns in bounded time, whatever
    clients do. The caller closes WebSockets. With `lane`, a request with a plain head bypasses
    hypercorn if an edge's application answers it directly. `on_event` is told of
    `connection_refused`, `connection_gave_way`, `connection_crash`, `head_timeout`, `read_timeout`,
    `send_timeout` and `lifespan_timeout`.
    """
    limits = limits or ServerLimits()
    config = GuardedConfig(
        limits,
        on_event,
        room_for(limits.max_connections),
        app.refuse if isinstance(app, Edge) else None,
        _lane_of(app) if lane else None,
    )

    async def stopped() -> None:
        await stop.wait()
        config.begin_stop()

    # worker_serve looks up the class in its own module.
    vars(hypercorn.trio.run).update(TCPServer=GuardedServer)
    try:
        async with trio.open_nursery() as nursery:
            if config.lane is not None:
                nursery.start_soon(config.sweep)
                nursery.start_soon(config.lane.inputs.run)
            await hypercorn.trio.run.worker_serve(
                ASGIWrapper(app),
                config,
                sockets=Sockets(secure_sockets=[], insecure_sockets=list(sockets), quic_sockets=[]),
                shutdown_trigger=stopped,
                task_status=task_status,
            )
            nursery.cancel_scope.cancel()
    except* LifespanTimeoutError:
        on_event("lifespan_timeout")
        _log.warning("lifespan_timeout")
    finally:
        if config.lane is not None:
            config.lane.inputs.close()  # not earlier: a cancelled listener may still accept


def _lane_of(app: App) -> Lane | None:
    """Return the lane to an edge's application.

    None if `app` is no edge, if its application cannot answer directly, or if the system has no
    epoll.
    """
    if not (isinstance(app, Edge) and app.direct and inputs.AVAILABLE):
        return None
    return Lane(app, app.direct)


def room_for(connections: int) -> int:
    """Return how many connections may be open at once, after raising the process's limit of files.

    That is `connections`, or fewer if the system does not allow that many files.
    """
    # A node opens a connection to another node for each WebSocket that it forwards.
    wanted = 2 * connections + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        soft = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == unlimited else min(connections, connections_within(soft))
