"""Makes connections to addresses that the address rule allows.

The name is looked up once, every address of the answer is checked, and the connection is made to
one of those addresses. Every layer limits how much is read.
"""

import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import httpcore
import trio

from pgs.domain.ip_addresses import REFUSED_MESSAGE, check_answer
from pgs.http.outbound.errors import (
    BAD_CERTIFICATE,
    CLOSED,
    CONNECT_TIMEOUT,
    NO_TLS,
    NOT_CONNECTED,
    TOO_LONG,
    NoResponse,
)
from pgs.http.outbound.resolver import look_up
from pgs.http.outbound.tls import Tls

HEAD_MAX: Final = 32 * 1024
"""Bytes of a response before its body, interim responses included: four times the 8 KiB that
common proxies allow for a head."""

WIRE_MAX: Final = 256 * 1024
"""Bytes that are read from a socket in one exchange, TLS and a new connection's handshake included.
That is several times a long certificate chain, a full head and a full body together. A try has two
exchanges if a kept connection fails."""

_READ_BYTES: Final = 4096
"""Bytes of one read: a typical response fits. The read in which the head ends may also bring the
beginning of the body. The limit of `expect_body` does not count those bytes, which are fewer than
this."""


async def allowed_addresses(
    host: str, port: int, is_allowed: Callable[[str], bool], by: float
) -> Sequence[str]:
    """Return the addresses of a host, looked up once, all of them allowed.

    `by` is on trio's clock. Raises NoResponse, also if one address is not allowed.
    """
    with trio.move_on_at(by):
        addresses = check_answer(await look_up(host, port), is_allowed)
        if addresses is None:
            raise NoResponse(REFUSED_MESSAGE)
        return addresses
    raise NoResponse(CONNECT_TIMEOUT)


async def open_stream(addresses: Sequence[str], port: int, by: float) -> tuple["PinnedStream", str]:
    """Return a connection to one of the addresses, and that address. Raises NoResponse.

    `by`: the time on trio's clock by which the connection and its TLS handshake must be done.
    """
    connected, address = await _connect(addresses, port, by)
    return PinnedStream(_Wire(trio.SocketStream(connected)), by), address


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """The network of one call, for httpcore. It makes one connection, and `close` closes it.

    `connect_by`: the time on trio's clock by which look-up, TCP and TLS handshake must be done.
    `is_allowed`: the address rule.
    """

    def __init__(self, connect_by: float, is_allowed: Callable[[str], bool]) -> None:
        self._connect_by = connect_by
        self._is_allowed = is_allowed
        self._stream: PinnedStream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature, here and below
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to an allowed address of `host`.

        `timeout` and the parameters after it are ignored. Raises NoResponse.
        """
        addresses = await allowed_addresses(host, port, self._is_allowed, self._connect_by)
        self._stream, _ = await open_stream(addresses, port, self._connect_by)
        return self._stream

    def expect_body(self, size: int) -> None:
        """Treat what follows as the body and read at most `size` more bytes of it.

        A later call can lower that number but not raise it.
        """
        if self._stream is not None:
            self._stream.expect_body(size)

    def close(self) -> None:
        """Close the connection immediately, if there is one."""
        if self._stream is not None:
            self._stream.close()


async def _connect(
    addresses: Sequence[str], port: int, by: float
) -> tuple[trio.socket.SocketType, str]:
    """Return a socket connected to the first address that accepts a connection, and the address.

    Each address gets an equal share of the time that is left, so that an address that never answers
    leaves time for the others. Raises NoResponse.
    """
    for index, address in enumerate(addresses):
        left = len(addresses) - index
        now = trio.current_time()
        made: trio.socket.SocketType | None = None
        try:
            with trio.move_on_at(by if left == 1 else now + (by - now) / left):
                made = trio.socket.socket(
                    socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM
                )
                await made.connect((address, port))
                return made, address
        except OSError:
            pass
        except BaseException:
            if made is not None:
                made.close()
            raise
        if made is not None:
            made.close()
    raise NoResponse(CONNECT_TIMEOUT if trio.current_time() >= by else NOT_CONNECTED)


class PinnedStream(httpcore.AsyncNetworkStream):
    """A connection that limits how much is read, and raises NoResponse when it fails.

    It closes without TLS's closing message, because sending that could hang.
    """

    def __init__(self, wire: "_Wire", connect_by: float) -> None:
        self._wire = wire
        self._stream: _Wire | Tls = wire
        self._connect_by = connect_by
        self._unsent = b""
        self._left = HEAD_MAX
        self._in_body = False

    def begin_exchange(self) -> None:
        """Prepare for another request and response, with the limits of a new connection."""
        self._left, self._in_body = HEAD_MAX, False
        self._wire.begin_exchange()

    def is_quiet(self) -> bool:
        """Return whether all that has arrived was read, and the connection has not ended."""
        stream = self._stream
        if isinstance(stream, Tls) and stream.has_unread():
            return False
        return not self._wire.is_readable()

    def expect_body(self, size: int) -> None:
        """Treat what follows as the body and read at most `size` more bytes of it.

        A later call can lower that number but not raise it.
        """
        self._left = min(self._left, size) if self._in_body else size
        self._in_body = True

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> bytes:
        """Send what was written, and return what has arrived; b"" at the end of a body.

        Raises NoResponse if the connection breaks, ends before the body begins, or has too many
        bytes.
        """
        if self._left <= 0:
            raise NoResponse(TOO_LONG)
        try:
            if self._unsent:
                unsent, self._unsent = self._unsent, b""
                await self._stream.send_all(unsent)
            data = bytes(await self._stream.receive_some(min(max_bytes, _READ_BYTES, self._left)))
        except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError):
            raise NoResponse(CLOSED) from None
        if not data and not self._in_body:
            raise NoResponse(CLOSED)
        self._left -= len(data)
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> None:
        """Keep the bytes until the first read, which sends the request in one piece.

        httpcore writes head and body separately. If an endpoint answered the head and closed, the
        second send would fail, and the response would be lost.
        """
        self._unsent += buffer

    async def aclose(self) -> None:
        """Close immediately, without waiting for the endpoint."""
        self.close()

    def close(self) -> None:
        """Close immediately, without TLS's closing message."""
        self._wire.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        """Return this connection after its TLS handshake.

        Raises NoResponse, also if the certificate is not valid for `server_hostname`.
        """
        with trio.move_on_at(self._connect_by):
            try:
                tls = Tls(self._wire, ssl_context, server_hostname)
                await tls.do_handshake()
            except ssl.SSLCertVerificationError:
                raise NoResponse(BAD_CERTIFICATE) from None
            except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError):
                raise NoResponse(NO_TLS) from None
            self._stream = tls
            return self
        raise NoResponse(CONNECT_TIMEOUT)

    def get_extra_info(self, info: str) -> Any:
        """Return None.

        httpcore asks for the negotiated protocol, and HTTP/1.1 is the only one on offer.
        """
        return None


class _Wire:
    """A transport that raises NoResponse once it has received `WIRE_MAX` bytes in an exchange."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._left = WIRE_MAX

    def begin_exchange(self) -> None:
        self._left = WIRE_MAX

    def is_readable(self) -> bool:
        return self._stream.socket.is_readable()

    async def receive_some(self, max_bytes: int) -> bytes | bytearray:
        if self._left <= 0:
            raise NoResponse(TOO_LONG)
        data = await self._stream.receive_some(max_bytes)
        self._left -= len(data)
        return data

    async def send_all(self, data: bytes) -> None:
        await self._stream.send_all(data)

    def close(self) -> None:
        self._stream.socket.close()
