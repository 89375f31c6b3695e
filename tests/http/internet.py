"""A simulated internet: names that resolve as a test says, and endpoints behind TLS.

It replaces trio's resolver and sockets. A test can count look-ups and connections, and runs on a
virtual clock.
"""

import functools
import math
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing
import trustme

from pgs.domain.ip_addresses import is_public
from pgs.domain.nudges import TryOutcome
from pgs.http.outbound.tries import Outbound

HOST = "hooks.example.com"
URL = f"https://{HOST}/nudges"
PUBLIC = "93.184.216.34"
BODY = b'{"type":"results.available","partnerId":"acme","at":1800000000}'

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Tls = trio.SSLStream[trio.abc.Stream]
Handler = Callable[[Tls], Awaitable[None]]
Answer = Sequence[str] | Exception


@functools.cache
def authority() -> trustme.CA:
    """Return the authority that the tests' clients trust."""
    return trustme.CA()


@functools.cache
def client_context() -> ssl.SSLContext:
    """Return the TLS context of a client that trusts only `authority`."""
    return ssl.create_default_context(cadata=authority().cert_pem.bytes().decode())


@functools.cache
def server_context(host: str = HOST) -> ssl.SSLContext:
    """Return the TLS context of a server for `host`, with a certificate from `authority`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert(host).configure_cert(context)
    return context


class Internet(trio.abc.HostnameResolver, trio.abc.SocketFactory):
    """The simulated internet. It records look-ups and connections.

    `answers`: what the next look-ups return, in order; the last one repeats. Addresses in
    `refusing` refuse connections, those in `hanging` never answer, all others accept them.
    `handler` is called once the TLS handshake is done; without a handler no handshake begins.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self.answers: list[Answer] = [[PUBLIC]]
        self.lookup_takes = 0.0
        self.connect_takes = 0.0
        self.refusing: set[str] = set()
        self.hanging: set[str] = set()
        self.handler: Handler | None = None
        self.context = server_context()
        self.sends_until_hang = math.inf
        self.lookups: list[tuple[bytes | None, object]] = []
        self.connects: list[tuple[str, int]] = []
        self.connected_at: list[float] = []
        self.open_sockets = 0
        self.nursery = nursery

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        self.lookups.append((host, port))
        await trio.sleep(self.lookup_takes)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [_entry(address, port) for address in answer]

    async def getnameinfo(
        self, sockaddr: tuple[str, int] | tuple[str, int, int, int], flags: int
    ) -> tuple[str, str]:
        raise AssertionError("nobody asks for names")

    def socket(
        self, family: int = socket.AF_INET, type: int = socket.SOCK_STREAM, proto: int = 0
    ) -> "Socket":
        return Socket(self, family)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Run an endpoint on one connection."""
        if self.handler is None:
            await trio.sleep_forever()
        tls = trio.SSLStream(stream, self.context, server_side=True, https_compatible=True)
        try:
            await tls.do_handshake()
            await self.handler(tls)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        await trio.aclose_forcefully(tls)


def _entry(address: str, port: object) -> tuple[Any, ...]:
    text, _, zone = address.partition("%")
    if ":" in text:
        return (
            socket.AF_INET6,
            socket.SOCK_STREAM,
            socket.IPPROTO_TCP,
            "",
            (text, port, 0, 1 if zone else 0),
        )
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (text, port))


class Socket(trio.socket.SocketType):
    """A socket of the simulated internet, with the methods that a stream needs."""

    def __init__(self, internet: Internet, family: int) -> None:
        self._internet = internet
        self._family = family
        self._stream: trio.abc.Stream | None = None
        self._open = True
        self._endpoint_has_closed = False
        internet.open_sockets += 1

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AddressFamily(self._family)

    @property
    def type(self) -> socket.SocketKind:
        return socket.SOCK_STREAM

    @property
    def did_shutdown_SHUT_WR(self) -> bool:  # noqa: N802 - trio's name
        return False

    async def connect(self, address: Any) -> None:
        host, port, *_ = address
        assert (":" in host) is (self._family == socket.AF_INET6)
        self._internet.connects.append((host, port))
        self._internet.connected_at.append(trio.current_time())
        await trio.sleep(self._internet.connect_takes)
        if host in self._internet.refusing:
            raise ConnectionRefusedError
        if host in self._internet.hanging:
            await trio.sleep_forever()
        self._stream, theirs = trio.testing.memory_stream_pair()
        self._internet.nursery.start_soon(self._serve, theirs)

    async def _serve(self, theirs: trio.abc.Stream) -> None:
        await self._internet.serve(theirs)
        self._endpoint_has_closed = True

    def is_readable(self) -> bool:
        return self._endpoint_has_closed

    async def recv(self, bufsize: int, flags: int = 0) -> bytes:
        assert self._stream is not None
        return bytes(await self._stream.receive_some(bufsize))

    async def send(self, data: Any, flags: int = 0) -> int:
        assert self._stream is not None
        if self._internet.sends_until_hang <= 0:
            await trio.sleep_forever()
        self._internet.sends_until_hang -= 1
        try:
            await self._stream.send_all(data)
        except trio.BrokenResourceError:
            raise BrokenPipeError from None
        return len(data)

    def setsockopt(self, *arguments: Any) -> None:
        pass

    def close(self) -> None:
        if self._open:
            self._open = False
            self._internet.open_sockets -= 1
            if isinstance(self._stream, trio.StapledStream):
                self._stream.send_stream.close()
                self._stream.receive_stream.close()


@asynccontextmanager
async def open_internet() -> AsyncIterator[Internet]:
    """Replace trio's resolver and sockets by a simulated internet for a block."""
    async with trio.open_nursery() as nursery:
        internet = Internet(nursery)
        resolver = trio.socket.set_custom_hostname_resolver(internet)
        factory = trio.socket.set_custom_socket_factory(internet)
        try:
            yield internet
        finally:
            trio.socket.set_custom_hostname_resolver(resolver)
            trio.socket.set_custom_socket_factory(factory)
            nursery.cancel_scope.cancel()


async def read_request(stream: trio.abc.Stream) -> bytes:
    """Return a whole request: its head, and as much body as its Content-Length says."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = await stream.receive_some()
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (
            int(line[15:])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    while len(body) < length:
        body += await stream.receive_some()
    return head + b"\r\n\r\n" + body


def answering(*parts: bytes, requests: list[bytes] | None = None) -> Handler:
    """Return an endpoint that reads a request, sends the parts and closes.

    It appends the request to `requests`.
    """

    async def handler(stream: Tls) -> None:
        request = await read_request(stream)
        if requests is not None:
            requests.append(request)
        for part in parts:
            await stream.send_all(part)

    return handler


def keeping(*answers: bytes, requests: list[bytes] | None = None) -> Handler:
    """Return an endpoint that gives these answers on one connection, and `OK` after them.

    It closes the connection instead of giving an empty answer.
    """

    async def handler(stream: Tls) -> None:
        left = list(answers)
        while request := await read_request(stream):
            if requests is not None:
                requests.append(request)
            answer = left.pop(0) if left else OK
            if not answer:
                return
            await stream.send_all(answer)

    return handler


async def try_once(outbound: Outbound, url: str = URL) -> TryOutcome:
    """Return the outcome of one try with `BODY`."""
    return await outbound.post(url, BODY, {})


def keeping_none(
    context: ssl.SSLContext | None = None, is_allowed: Callable[[str], bool] = is_public
) -> Outbound:
    """Return a client that closes every connection after its try.

    It trusts `authority` unless a context is given.
    """
    outbound = Outbound(context or client_context(), is_allowed)
    outbound.close()
    return outbound


async def answer_to(internet: Internet, *parts: bytes) -> TryOutcome:
    """Return the outcome of a try at an endpoint that sends the parts and closes."""
    internet.handler = answering(*parts)
    outcome = await keeping_none().post(URL, BODY, {"X-Service-Signature": "t=1,v1=00"})
    assert internet.open_sockets == 0
    return outcome


def dripping(parts: Iterable[bytes], every: float) -> Handler:
    """Return an endpoint that reads a request and sends a part every `every` seconds.

    It never closes the connection.
    """

    async def handler(stream: Tls) -> None:
        await read_request(stream)
        for part in parts:
            await trio.sleep(every)
            await stream.send_all(part)
        await trio.sleep_forever()

    return handler
