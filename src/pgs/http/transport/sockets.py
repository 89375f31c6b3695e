"""What every WebSocket of the service stands on: a session with a reader, a writer and bounds, and a way to tell all of them to go.

What it is against, as seen by running hypercorn 0.18 and Quart 0.22:

- A subprotocol that the client had not offered was accepted, and the client hung or left. Here that handshake is refused.
- A handler that was not reading learned of no disconnect. Here a reader of its own always runs, and ends the handler.
- A send waited for the client, and whoever sent with it. Here sending only queues; one task writes, and a full queue ends the socket.
- A stop said nothing to open sockets. Here they are registered, and told (`OpenSockets.close_all`).
- Message sizes were counted in characters. Here in bytes.

An exception of a handler passes through: `pgs.http.transport.edge` logs it and closes with 1011, as it does for everything behind it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
import trio

from pgs.http.transport.asgi import Headers, OnEvent, Receive, Scope, Send, ignore_event
from pgs.http.transport.socket_session import Handler, SocketLimits, SocketSession

GOING_AWAY: Final = 1001
"""Close code of a server that stops (RFC 6455, section 7.4.1)."""

TELL_S: Final = 0.25
"""Seconds that a stop waits for open sockets to be told. Clients that read are told within
milliseconds; the others have the grace of the stop."""

_NOT_OFFERED: Final = "The handshake must offer the subprotocol `{}`."


class OpenSockets:
    """The open sockets of a service. `on_event` hears of `socket_abuse` and `socket_overloaded`."""

    def __init__(self, on_event: OnEvent = ignore_event) -> None:
        self.on_event = on_event
        self._open: set[SocketSession] = set()
        self._closing: int | None = None
        self._none_left = trio.Event()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    @contextmanager
    def hold(self, session: SocketSession) -> Iterator[None]:
        """Count a socket as open for a block; one that comes after `close_all` is closed in the same way."""
        self._open.add(session)
        if self._closing is not None:
            session.close(self._closing)
        try:
            yield
        finally:
            self._open.discard(session)
            if not self._open:
                self._none_left.set()

    async def close_all(self, code: int = GOING_AWAY) -> None:
        """Close every socket that is open or still comes; return once all have been told, or after `TELL_S`.

        They are told even where the caller is cancelled: what waits is this call alone.
        """
        self._closing = code
        self._none_left = trio.Event()
        for session in list(self._open):
            session.close(code)
        if self._open:
            with trio.move_on_after(TELL_S):
                await self._none_left.wait()


async def serve_socket(
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    subprotocol: str | None,
    handler: Handler,
    limits: SocketLimits,
    sockets: OpenSockets,
) -> None:
    """Serve one `websocket` scope whose caller is already known, from the handshake to the close.

    `subprotocol` is what the server chooses; where the client did not offer it, the handshake is refused with 400. Whoever refuses a
    handshake for another reason calls `refuse_handshake` in place of this.
    """
    if (await receive())["type"] != "websocket.connect":
        return
    if subprotocol is not None and subprotocol not in scope.get("subprotocols", ()):
        await refuse_handshake(send, 400, {"error": _NOT_OFFERED.format(subprotocol)})
        return
    session = SocketSession(limits, sockets.on_event)
    with sockets.hold(session):
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        await session.run(receive, send, handler)


async def refuse_handshake(
    send: Send, status: int, body: object, headers: Headers | None = None
) -> None:
    """Answer a handshake as if it were a plain request, with a JSON body and `headers`; the connection ends after it."""
    content = msgspec.json.encode(body)
    own = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(content)),
        (b"connection", b"close"),
    ]
    await send(
        {
            "type": "websocket.http.response.start",
            "status": status,
            "headers": [*own, *(headers or [])],
        }
    )
    await send({"type": "websocket.http.response.body", "body": content, "more_body": False})
