"""A bot's WebSocket: wsproto on a trio stream, without a task of its own.

trio-websocket runs a task for each socket and hands every message over to another one. Two thousand
bots then take more processor time than the service, which shares the cores with them.
"""

from collections import deque
from contextlib import suppress
from urllib.parse import urlsplit

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)

READ_BYTES = 16 * 1024


class SocketClosed(Exception):
    """The service refused or closed the socket; the message says how."""


class BotSocket:
    """A socket that one task uses."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._messages: deque[str] = deque()
        self._begun = ""  # a message whose last frame has not arrived
        self._accepted = False
        self._closed = ""  # how the service closed the socket, after the messages that arrived

    async def shake_hands(self, host: str, path: str, subprotocols: list[str]) -> None:
        """Open the socket. Raises `SocketClosed` if the service refuses it."""
        await self._send(
            self._protocol.send(Request(host=host, target=path, subprotocols=subprotocols))
        )
        while not self._accepted:
            await self._receive()

    async def send(self, text: str) -> None:
        """Send a message. Raises `SocketClosed`."""
        await self._send(self._protocol.send(TextMessage(data=text)))

    async def get(self) -> str:
        """Return the next message. Raises `SocketClosed`."""
        while not self._messages:
            if self._closed:
                raise SocketClosed(self._closed)
            await self._receive()
        return self._messages.popleft()

    async def aclose(self) -> None:
        """Close the socket with a close frame, without waiting for the service's own."""
        with suppress(SocketClosed):  # the service has closed the connection
            await self._send(self._protocol.send(CloseConnection(code=1000)))
        await self._stream.aclose()

    async def _send(self, content: bytes) -> None:
        try:
            await self._stream.send_all(content)
        except trio.BrokenResourceError:
            raise SocketClosed("closed with nothing") from None

    async def _receive(self) -> None:
        try:
            data = await self._stream.receive_some(READ_BYTES)
        except trio.BrokenResourceError:
            data = b""
        if not data:
            raise SocketClosed("closed with nothing")
        self._protocol.receive_data(data)
        for event in self._protocol.events():
            if isinstance(event, TextMessage):
                self._begun += event.data
                if event.message_finished:
                    self._messages.append(self._begun)
                    self._begun = ""
            elif isinstance(event, Ping):
                await self._send(self._protocol.send(event.response()))
            elif isinstance(event, AcceptConnection):
                self._accepted = True
            elif isinstance(event, RejectConnection):
                raise SocketClosed(f"refused with {event.status_code}")
            elif isinstance(event, CloseConnection):
                self._closed = f"closed with {event.code}"


async def connect(base_url: str, path: str, subprotocols: list[str]) -> BotSocket:
    """Return an open socket of the service at `base_url`. Raises `SocketClosed`."""
    place = urlsplit(base_url)
    socket = BotSocket(await trio.open_tcp_stream(str(place.hostname), place.port or 80))
    await socket.shake_hands(place.netloc, path, subprotocols)
    return socket
