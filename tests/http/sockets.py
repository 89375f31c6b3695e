"""A service with one WebSocket, and a client of it, for tests over real sockets."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import trio

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import App, Receive, Scope, Send
from pgs.http.transport.socket_limits import SocketLimits
from pgs.http.transport.sockets import OpenSockets, serve_socket
from tests.http.apps import edge, http_app, ok, only
from tests.http.raw import HANDSHAKE, Client, Server
from tests.patience import PATIENCE_S

ABUSE = 4400
LIMITS = SocketLimits(abuse_code=ABUSE, drain_s=0.1)
TALKATIVE = msgspec.structs.replace(LIMITS, messages_per_second=1000)
PROTOCOL = "pgs.game.v1"
OFFER = b"Sec-WebSocket-Protocol: pgs.game.v1, pgs.token.abc\r\n"
PING, PONG, CLOSE = 9, 10, 8


def app_of(
    handler: Callable[[AcceptedSocket], Awaitable[None]],
    *,
    limits: SocketLimits = LIMITS,
    sockets: OpenSockets | None = None,
    subprotocol: str | None = PROTOCOL,
    events: Counter[str] | None = None,
) -> App:
    """Return a service with `handler` for the WebSockets at `/ws`, behind the edge.

    `ok` answers everything else. `events` counts the events.
    """
    heard: Counter[str] = Counter() if events is None else events

    def on_event(name: str) -> None:
        heard[name] += 1

    known = sockets or OpenSockets(on_event)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await ok(scope, receive, send)
            return
        await serve_socket(
            scope,
            receive,
            send,
            subprotocol=subprotocol,
            handler=handler,
            limits=limits,
            sockets=known,
        )

    return edge(http_app(only("/ws", app)), on_event=on_event, sockets=(b"/ws",))


async def upgraded(
    server: Server, offer: bytes = OFFER, *, receive_buffer: int | None = None
) -> Client:
    """Return a client whose handshake was accepted."""
    client = await server.client(receive_buffer=receive_buffer)
    try:
        assert (await client.ask(HANDSHAKE % b"/ws" + offer + b"\r\n")).status == 101
    except BaseException:
        await trio.aclose_forcefully(client.stream)
        raise
    return client


async def until(condition: Callable[[], bool]) -> None:
    """Poll until a condition holds, where a test has no event to wait for."""
    with trio.fail_after(PATIENCE_S):
        while True:
            if condition():
                return
            await trio.sleep(0.005)


async def echo(socket: AcceptedSocket) -> None:
    while True:
        socket.send(await socket.receive())


async def idle(socket: AcceptedSocket) -> None:
    """Serve a socket without ever reading from it."""
    await trio.sleep_forever()


def closed(code: int) -> tuple[int, bytes]:
    """Return the close frame with this code."""
    return CLOSE, code.to_bytes(2)


async def gone(sockets: OpenSockets) -> None:
    """Wait until no socket is open."""
    await until(lambda: sockets.count == 0)


async def send_all_or_nothing(client: Client, data: bytes) -> None:
    """Send to a server that may already have ended the connection."""
    with suppress(trio.BrokenResourceError):
        await client.send(data)
