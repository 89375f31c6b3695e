"""Carries one WebSocket to the node that owns its shard.

This node pings the client, and the other node pings this one. The other node limits the size and
the rate of the client's messages; this module limits only the size of one message from the other
node. Each side is read no faster than the other side takes its messages.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import trio
import wsproto
from hypercorn.utils import UnexpectedMessageError
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from pgs.domain.shards import Node
from pgs.http.nodes.calls import SILENCE_S, NotReached, passed_on
from pgs.http.nodes.connections import CONNECT_S
from pgs.http.transport.asgi import Headers, Message, Receive, Send, unless_gone

READ_BYTES: Final = 64 * 1024
"""Bytes that one read takes from another node."""

HANDSHAKE_S: Final = 5.0
"""Seconds for another node to answer a handshake: as long as a request to an actor may take."""

MESSAGE_MAX: Final = 256 * 1024
"""Characters of a message from another node: as many as that node queues for a whole socket."""

REFUSAL_MAX: Final = 64 * 1024
"""Bytes of the body with which another node refuses a handshake. Real ones have under a KiB."""

GONE: Final = 1001
"""Close code for a client when the other node breaks off or is silent (RFC 6455, section 7.4.1).
When this node stops, its clients get the same code. Either way, clients connect again."""


class ForwardedSocket:
    """One WebSocket on its way through this node.

    `headers` are sent with the handshake: the client's own, and the proof. `named` is added to the
    headers of the handshake's answer. `stopping` waits until this node stops, and returns the close
    code for the client.
    """

    def __init__(
        self,
        node: Node,
        target: bytes,
        headers: Headers,
        subprotocols: Sequence[str],
        named: tuple[bytes, bytes],
        stopping: Callable[[], Awaitable[int]] = trio.sleep_forever,
    ) -> None:
        self._node = node
        self._target = target
        self._headers = headers
        self._subprotocols = subprotocols
        self._named = named
        self._stopping = stopping
        self._peer = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        self._closed = False

    async def run(self, receive: Receive, send: Send) -> None:
        """Carry the socket until one side ends it.

        Raises `NotReached` if the other node gives no answer to the handshake, and `ClientGone` if
        the client leaves before that.
        """
        if (await receive())["type"] != "websocket.connect":
            return
        stream = await self._connect()
        try:
            # If the client abandons its handshake, the connection to the other node is closed.
            # Otherwise the other node could still accept this socket, and would then close the one
            # that the player has opened since.
            answer = await unless_gone(self._shake_hands(stream), receive)
            if isinstance(answer, AcceptConnection):
                headers = [self._named]
                protocol = answer.subprotocol
                await send(
                    {"type": "websocket.accept", "subprotocol": protocol, "headers": headers}
                )
                await self._carry(stream, receive, send)
            else:
                await self._pass_refusal_on(stream, answer, send)
        finally:
            await trio.aclose_forcefully(stream)

    async def _connect(self) -> trio.SocketStream:
        host, _, port = self._node.address.rpartition(":")
        try:
            with trio.fail_after(CONNECT_S):
                return await trio.open_tcp_stream(host.strip("[]"), int(port))
        except (OSError, trio.TooSlowError) as error:
            raise NotReached(self._node.name) from error

    async def _shake_hands(self, stream: trio.SocketStream) -> AcceptConnection | RejectConnection:
        own = [
            (name, value)
            for name, value in passed_on(self._headers)
            if name != b"host" and not name.startswith(b"sec-websocket-")
        ]
        host = next((value for name, value in self._headers if name == b"host"), b"")
        request = Request(
            host=host.decode("latin-1") or self._node.address,
            target=self._target.decode("ascii"),
            extra_headers=own,
            subprotocols=list(self._subprotocols),
        )
        try:
            with trio.fail_after(HANDSHAKE_S):
                await stream.send_all(self._peer.send(request))
                while True:
                    await self._read(stream)
                    for event in self._peer.events():
                        if isinstance(event, AcceptConnection | RejectConnection):
                            return event
        except (_Ended, trio.TooSlowError) as error:
            raise NotReached(self._node.name) from error

    async def _read(self, stream: trio.SocketStream) -> None:
        """Pass the next bytes of the input to the protocol. Raises `_Ended` at its end."""
        try:
            data = await stream.receive_some(READ_BYTES)
            self._peer.receive_data(data or None)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise _Ended from error
        except wsproto.utilities.RemoteProtocolError as error:
            raise _Ended from error
        if not data:
            raise _Ended

    async def _pass_refusal_on(
        self, stream: trio.SocketStream, refusal: RejectConnection, send: Send
    ) -> None:
        body, ended = bytearray(), not refusal.has_body
        with trio.move_on_after(HANDSHAKE_S):
            while not ended:
                for event in self._peer.events():
                    if isinstance(event, RejectData):
                        body += event.data
                        ended = event.body_finished or len(body) > REFUSAL_MAX
                if not ended:
                    try:
                        await self._read(stream)
                    except _Ended:
                        ended = True
        headers = [
            *passed_on(list(refusal.headers)),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            self._named,
        ]
        start = "websocket.http.response.start"
        await send({"type": start, "status": refusal.status_code, "headers": headers})
        content = bytes(body)
        await send({"type": "websocket.http.response.body", "body": content, "more_body": False})

    async def _carry(self, stream: trio.SocketStream, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery:

            async def up() -> None:
                while (message := await receive())["type"] != "websocket.disconnect":
                    await self._to_node(stream, message)
                code = message.get("code") or GONE
                await self._send(stream, CloseConnection(code=_sendable(code)))
                nursery.cancel_scope.cancel()

            async def down() -> None:
                try:
                    code = await self._to_client(stream, send)
                    await send({"type": "websocket.close", "code": code, "reason": ""})
                except UnexpectedMessageError:
                    # The client has left, or `stop` has closed the socket: `up` or `stop` then ends
                    # all three tasks.
                    return
                nursery.cancel_scope.cancel()

            async def stop() -> None:
                code = await self._stopping()
                await send({"type": "websocket.close", "code": code, "reason": ""})
                nursery.cancel_scope.cancel()

            nursery.start_soon(up)
            nursery.start_soon(down)
            nursery.start_soon(stop)

    async def _to_node(self, stream: trio.SocketStream, message: Message) -> None:
        text: str | None = message.get("text")
        # Clients of the Game API send only text; the other node judges anything else.
        event = (
            wsproto.events.BytesMessage(data=message.get("bytes") or b"")
            if text is None
            else TextMessage(data=text)
        )
        await self._send(stream, event)

    async def _send(self, stream: trio.SocketStream, event: wsproto.events.Event) -> None:
        try:
            await stream.send_all(self._peer.send(event))
        except (
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            wsproto.utilities.LocalProtocolError,
        ):
            return  # the task that reads from the node notices the break

    async def _to_client(self, stream: trio.SocketStream, send: Send) -> int:
        """Pass on what the other node sends; return the code with which it closes."""
        parts: list[str] = []
        size = 0
        while True:
            for event in self._peer.events():
                if isinstance(event, CloseConnection):
                    return _sendable(event.code)
                if isinstance(event, Ping):
                    await self._send(stream, event.response())
                elif isinstance(event, TextMessage):
                    parts.append(event.data)
                    size += len(event.data)
                    if size > MESSAGE_MAX:
                        return GONE
                    if event.message_finished:
                        await send({"type": "websocket.send", "text": "".join(parts)})
                        parts, size = [], 0
            try:
                with trio.fail_after(SILENCE_S):  # the other node pings every 20 s
                    await self._read(stream)
            except (_Ended, trio.TooSlowError):
                return GONE


class _Ended(Exception):
    """The other node sends nothing more."""


def _sendable(code: int) -> int:
    """Return `code`, or `GONE` for 1005, 1006 and 1015, which no close frame may contain."""
    return GONE if code in (1005, 1006, 1015) else int(code)
