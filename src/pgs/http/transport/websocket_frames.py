"""Reads the frames of a WebSocket's client, and writes those of the server.

A text in one whole frame, a ping and a pong are read here. From the first frame of another kind (a
binary message, a part of a message, a text over the limit, a close, a fault), or the first frame
that arrives in pieces, wsproto reads all frames until the socket ends. It takes ten times as long
for a message.
"""

from collections.abc import Iterator
from typing import Final

from hypercorn.protocol.ws_stream import FrameTooLargeError
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import CloseConnection, Message, Ping
from wsproto.frame_protocol import CloseReason

from pgs.http.transport.hypercorn_websocket import CutBuffer

Heard = str | None | bytes
"""A text message, None for a binary one, or bytes to send to the client, possibly no bytes."""

PING: Final = b"\x89\x00"
"""A ping without a payload."""

# First bytes of whole frames, the bit of a mask, the longest length that fits into one byte, and
# the byte that announces a length of two bytes (RFC 6455, section 5.2).
_TEXT, _PING, _PONG = 0x81, 0x89, 0x8A
_MASKED, _SHORT_MAX, _TWO_BYTES = 0x80, 125, 126


class FrameReader:
    """The frames of one client.

    `limit`: characters of a message; one more is read, which shows the application that the message
    is too long. `flood`: characters of a message after which nothing more is read. `over`: whether
    reading has ended, because of a close frame, a fault or a flood.
    """

    __slots__ = ("_buffer", "_connection", "_flood", "_limit", "over")

    def __init__(self, limit: int, flood: int) -> None:
        self._limit = limit
        self._flood = flood
        self._connection: Connection | None = None
        self._buffer: CutBuffer | None = None
        self.over = False

    def read(self, data: bytes) -> Iterator[Heard]:
        """Yield what each frame in `data` means, in the order of arrival."""
        at, end = 0, len(data)
        while at < end and self._connection is None:
            kind, length, start = data[at], 0, at + 6
            if start <= end:
                length = data[at + 1] - _MASKED
                if length == _TWO_BYTES and kind == _TEXT and start + 2 <= end:
                    length, start = int.from_bytes(data[at + 2 : at + 4]), start + 2
                    if length <= _SHORT_MAX:
                        break
                elif not 0 <= length <= _SHORT_MAX:
                    break
            stop = start + length
            if start > end or stop > end:
                break
            if kind == _PONG:
                yield b""
            elif kind == _PING:
                yield bytes((_PONG, length)) + _unmasked(data, start, length)
            elif kind == _TEXT and length <= self._limit:
                try:
                    text = _unmasked(data, start, length).decode()
                except UnicodeDecodeError:
                    break
                yield text
            else:
                break
            at = stop
        if at < end:
            yield from self._by_wsproto(data[at:] if at else data)

    def _by_wsproto(self, data: bytes) -> Iterator[Heard]:
        if self._connection is None or self._buffer is None:
            self._connection = Connection(ConnectionType.SERVER)
            self._buffer = CutBuffer(self._limit, self._flood)
        connection = self._connection
        connection.receive_data(data)
        for event in connection.events():
            if isinstance(event, Message):
                try:
                    message = self._buffer.take(event)
                except FrameTooLargeError:
                    self.over = True
                    yield close_frame(CloseReason.MESSAGE_TOO_BIG)
                    return
                yield b"" if message is None else message["text"]
            elif isinstance(event, Ping):
                yield bytes(connection.send(event.response()))
            elif isinstance(event, CloseConnection):
                # A client at fault is told only the code: wsproto's sentence may quote its input.
                self.over = True
                theirs = connection.state is ConnectionState.REMOTE_CLOSING
                yield bytes(
                    connection.send(
                        event.response() if theirs else CloseConnection(code=event.code)
                    )
                )
                return
            else:
                yield b""


def text_frame(text: str) -> bytes:
    """Return the frame of a message."""
    content = text.encode()
    length = len(content)
    if length <= _SHORT_MAX:
        return bytes((_TEXT, length)) + content
    if length < 1 << 16:
        return b"\x81\x7e" + length.to_bytes(2) + content
    return b"\x81\x7f" + length.to_bytes(8) + content


def close_frame(code: int) -> bytes:
    """Return the frame that closes a socket with a code."""
    return b"\x88\x02" + code.to_bytes(2)


def _unmasked(data: bytes, start: int, length: int) -> bytes:
    """Return the payload of a frame, whose mask is the four bytes before it."""
    if not length:
        return b""
    mask = data[start - 4 : start] * (length // 4 + 1)
    payload = int.from_bytes(data[start : start + length])
    return (payload ^ int.from_bytes(mask[:length])).to_bytes(length)
