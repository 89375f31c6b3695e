"""Runs a listener while a block runs."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import trio

from pgs.http.transport.asgi import App, OnEvent
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import serve


class Listener(msgspec.Struct, frozen=True):
    """An open listener. Setting `stop` ends it within its limits, even before the block ends."""

    url: str
    stop: trio.Event


@asynccontextmanager
async def listening(
    app: App,
    sock: socket.socket,
    limits: ServerLimits,
    on_event: OnEvent,
    *,
    lane: bool = True,
) -> AsyncIterator[Listener]:
    """Serve an application on a bound socket while a block runs; then stop, and wait for the end.

    `lane` is passed to `serve`.

    An exception of the block is raised as it is, not inside an exception group.
    """
    stop, failure = trio.Event(), None
    async with trio.open_nursery() as nursery:
        (url,) = await nursery.start(
            partial(serve, app, [sock], stop=stop, limits=limits, on_event=on_event, lane=lane)
        )
        try:
            yield Listener(url, stop)
        except Exception as error:
            failure = error
        finally:
            stop.set()
    if failure is not None:
        raise failure


def address_of(sock: socket.socket) -> str:
    """Return the address at which a socket listens, as in a URL: host:port."""
    host, port, *_ = sock.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
