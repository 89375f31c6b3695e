"""TLS on one connection that one task uses: a handshake, then writing and reading.

`trio.SSLStream` can do more, but it makes about twenty objects that refer to each other. Only the
garbage collector can free them and their OpenSSL buffers. With a hundred hanging tries, the
collector's passes were long enough to delay everything else measurably.
"""

import ssl
from collections.abc import Callable
from typing import Any, Final, Protocol

_RECEIVE_BYTES: Final = 16 * 1024
"""Bytes that one read takes from the socket: the size of a TLS record."""


class Wire(Protocol):
    """The transport below TLS."""

    async def receive_some(self, max_bytes: int) -> bytes | bytearray:
        """Return what has arrived, b"" at the end."""
        ...

    async def send_all(self, data: bytes) -> None:
        """Send all of `data`."""
        ...


class Tls:
    """The client's side of a connection. Methods raise ssl.SSLError and the errors of `wire`."""

    def __init__(self, wire: Wire, context: ssl.SSLContext, host: str | None) -> None:
        self._wire = wire
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def do_handshake(self) -> None:
        """Return once the handshake is done and the certificate is valid for the host."""
        await self._drive(self._tls.do_handshake)

    async def send_all(self, data: bytes) -> None:
        """Send all of `data`."""
        self._tls.write(data)
        await self._flush()

    async def receive_some(self, max_bytes: int) -> bytes:
        """Return what has arrived, b"" at the end.

        An end without TLS's close_notify is no error, because many web servers omit it.
        """
        try:
            return bytes(await self._drive(self._tls.read, max_bytes))
        except ssl.SSLEOFError:
            return b""

    def has_unread(self) -> bool:
        """Return whether bytes have arrived that `receive_some` has not returned."""
        return bool(self._incoming.pending or self._tls.pending())

    async def _drive(self, operation: Callable[..., Any], *args: Any) -> Any:
        while True:
            try:
                result = operation(*args)
            except ssl.SSLWantReadError:
                await self._flush()
            else:
                await self._flush()
                return result
            data = await self._wire.receive_some(_RECEIVE_BYTES)
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._wire.send_all(self._outgoing.read())
