"""Answers the handshakes of WebSockets, and closes every open socket at a stop.

This module avoids these faults of hypercorn 0.18 and Quart 0.22, which were seen in practice:

- A subprotocol that the client had not offered was accepted, and the client hung or left. Here that
  handshake is refused.
- A handler that was not reading did not learn of a disconnect. Here a separate task reads, and ends
  the handler.
- A send waited for the client, and so did its caller. Here a send never waits, and a full queue
  closes the socket.
- Open sockets were not told of a stop. Here they are registered and told (`OpenSockets.close_all`).
- Message sizes were counted in characters. Here they are counted in bytes.

An exception of a handler passes through: `pgs.http.transport.edge` logs it and closes with 1011.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
import trio

from pgs.http.transport.accepted_socket import AcceptedSocket, DirectSocket, Handler
from pgs.http.transport.asgi import Headers, OnEvent, Receive, Scope, Send, ignore_event
from pgs.http.transport.socket_limits import SocketLimits

GOING_AWAY: Final = 1001
"""Close code of a server that stops (RFC 6455, section 7.4.1)."""

TELL_S: Final = 0.25
"""Seconds that a stop waits until open sockets have been told. Clients that read are told within
milliseconds; the others have the grace period of the stop."""

DIRECT_SOCKET: Final = "pgs.direct_socket"
"""The name under which the scope of a socket in the lane has its `DirectSocket`."""

_NOT_OFFERED: Final = "The handshake must offer the subprotocol `{}`."


class OpenSockets:
    """The open sockets. `on_event` is told of `socket_abuse` and `socket_overloaded`."""

    def __init__(self, on_event: OnEvent = ignore_event) -> None:
        self.on_event = on_event
        self._open: set[AcceptedSocket] = set()
        self._closing: int | None = None
        self._begun = trio.Event()
        self._none_left = trio.Event()

    @property
    def count(self) -> int:
        """The number of open sockets."""
        return len(self._open)

    @contextmanager
    def hold(self, socket: AcceptedSocket) -> Iterator[None]:
        """Count a socket as open during a block. After `close_all`, close it immediately."""
        self._open.add(socket)
        if self._closing is not None:
            socket.close(self._closing)
        try:
            yield
        finally:
            self._open.discard(socket)
            if not self._open:
                self._none_left.set()

    async def closing(self) -> int:
        """Wait for `close_all`; return its code.

        `close_all` closes only the sockets that `hold` counts. The owner of any other socket waits
        here, and then closes that socket itself.
        """
        await self._begun.wait()
        return self._closing or GOING_AWAY

    async def close_all(self, code: int = GOING_AWAY) -> None:
        """Close every socket that is open, and every one that is opened later.

        Returns once all have been told, or after `TELL_S`. They are told even if the caller is
        cancelled, since that ends only this wait.
        """
        self._closing = code
        self._begun.set()
        self._none_left = trio.Event()
        for socket in list(self._open):
            socket.close(code)
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

    `subprotocol` is the one that the server chooses. If the client did not offer it, the handshake
    is refused with 400. To refuse a handshake for another reason, call `refuse_handshake` instead.
    """
    if (await receive())["type"] != "websocket.connect":
        return
    if subprotocol is not None and subprotocol not in scope.get("subprotocols", ()):
        await refuse_handshake(send, 400, {"error": _NOT_OFFERED.format(subprotocol)})
        return
    direct: DirectSocket | None = scope.get(DIRECT_SOCKET)
    socket = AcceptedSocket(limits, sockets.on_event, direct)
    with sockets.hold(socket):
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        await socket.run(receive, send, handler)


async def refuse_handshake(
    send: Send, status: int, body: object, headers: Headers | None = None
) -> None:
    """Answer a handshake like a plain request, with a JSON body; the connection ends after it."""
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
