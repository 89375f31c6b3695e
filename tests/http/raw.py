"""A server under test on a free loopback port, and a client that sends any bytes."""

import json
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, Self

import msgspec
import trio

from pgs.http.transport.asgi import App, OnEvent
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import bind, serve
from tests.http.apps import lane_app
from tests.patience import PATIENCE_S

QUICK = ServerLimits(
    sweep_s=0.1,
    lane_body_s=0.05,
    head_s=0.4,
    keep_alive_s=0.4,
    read_s=60.0,
    send_s=0.4,
    linger_s=0.3,
    grace_s=0.6,
    shutdown_s=0.5,
    websocket_ping_s=None,
)
"""Limits that a test reaches quickly. Only `read_s` is long, so that it cannot hide the failure of
another limit."""

UNHURRIED = msgspec.structs.replace(
    QUICK, head_s=PATIENCE_S, keep_alive_s=PATIENCE_S, send_s=PATIENCE_S
)
"""Limits for a test of something else: a client that a busy machine delays does not reach them."""


HANDSHAKE = (
    b"GET %s HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


class ServeApp(Protocol):
    """A function that serves an application: `pgs.http.transport.server.serve` or a replacement."""

    async def __call__(
        self,
        app: App,
        sockets: list[socket.socket],
        /,
        *,
        stop: trio.Event,
        limits: ServerLimits,
        on_event: OnEvent,
        task_status: trio.TaskStatus[list[str]],
    ) -> None: ...


SERVERS: dict[str, ServeApp] = {
    "hypercorn": partial(serve, lane=False),
    "lane": lambda app, sockets, **settings: serve(lane_app(app), sockets, **settings),
}


class Answer:
    """A response: status, headers by lower-case name (a repeated one joined by a comma), body."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Client:
    """One connection. Every wait in it fails after `PATIENCE_S`."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._read = b""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await trio.aclose_forcefully(self.stream)

    async def send(self, raw: bytes) -> None:
        with trio.fail_after(PATIENCE_S):
            await self.stream.send_all(raw)

    async def get(self, path: str, *headers: str) -> Answer:
        """Return the answer to a plain GET."""
        lines = "".join(f"{line}\r\n" for line in headers)
        return await self.ask(f"GET {path} HTTP/1.1\r\nHost: h\r\n{lines}\r\n".encode("latin-1"))

    async def ask(self, raw: bytes) -> Answer:
        await self.send(raw)
        return await self.answer()

    async def answer(self, *, to_head: bool = False) -> Answer:
        """Return the next final response. AssertionError if the connection ends before it does."""
        head = (await self.until(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        status = int(first.split(" ")[1])
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
        if status == 100:
            return await self.answer(to_head=to_head)
        if to_head or status == 101:
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Answer(status, headers, await self._chunks())
        return Answer(status, headers, await self._exactly(int(headers.get("content-length", "0"))))

    async def end(self) -> bytes:
        """Return everything up to the end of the connection."""
        while await self._more():
            pass
        return self._read

    async def frame(self) -> tuple[int, bytes]:
        """Return the next WebSocket frame: opcode and payload."""
        first, length = await self._exactly(2)
        if length == 126:
            length = int.from_bytes(await self._exactly(2))
        elif length == 127:
            length = int.from_bytes(await self._exactly(8))
        return first & 0x0F, await self._exactly(length)

    async def _chunks(self) -> bytes:
        body = b""
        while size := int((await self.until(b"\r\n")).strip(), 16):
            body += (await self._exactly(size + 2))[:-2]
        await self._exactly(2)
        return body

    async def until(self, mark: bytes) -> bytes:
        """Read on up to `mark`, and return what came, with `mark`."""
        while mark not in self._read:
            assert await self._more(), f"the connection ended after {self._read[:200]!r}"
        return await self._exactly(self._read.index(mark) + len(mark))

    async def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            assert await self._more(), f"the connection ended after {self._read[:200]!r}"
        taken, self._read = self._read[:size], self._read[size:]
        return taken

    async def _more(self) -> bool:
        """Read on. Return False if the connection has ended or was reset."""
        with trio.fail_after(PATIENCE_S):
            try:
                data = await self.stream.receive_some(65536)
            except trio.BrokenResourceError:
                self.was_reset = True
                return False
        self._read += data
        return bool(data)

    was_reset = False


class Server:
    """A running server."""

    def __init__(self, port: int, stop: trio.Event, stopped: trio.Event) -> None:
        self.port = port
        self.stop = stop
        self.stopped = stopped
        self.events: Counter[str] = Counter()
        self._counted = trio.Event()

    async def client(self, *, receive_buffer: int | None = None) -> Client:
        """Return a new connection. A small `receive_buffer` (bytes) is soon full."""
        sock = trio.socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await sock.connect(("127.0.0.1", self.port))
        return Client(trio.SocketStream(sock))

    async def is_alive(self) -> bool:
        """Return whether the server still answers a new client."""
        async with await self.client() as client:
            return (await client.get("/alive")).status != 0

    async def event(self, name: str) -> None:
        """Wait until the server has counted an event."""
        with trio.fail_after(PATIENCE_S):
            while not self.events[name]:
                await self._counted.wait()

    def count(self, name: str) -> None:
        """Count an event. This is the server's `on_event`."""
        self.events[name] += 1
        self._counted.set()
        self._counted = trio.Event()


@asynccontextmanager
async def serving(
    serve_app: ServeApp, app: App, limits: ServerLimits = UNHURRIED
) -> AsyncIterator[Server]:
    """Run a server of `app` for a block. It must stop within the time that its limits allow."""
    sock = bind("127.0.0.1:0")
    server = Server(sock.getsockname()[1], trio.Event(), trio.Event())

    async def run(task_status: trio.TaskStatus[list[str]]) -> None:
        await serve_app(
            app,
            [sock],
            stop=server.stop,
            limits=limits,
            on_event=server.count,
            task_status=task_status,
        )
        server.stopped.set()

    async with trio.open_nursery() as nursery:
        await nursery.start(run)
        yield server
        server.stop.set()
        with trio.move_on_after(limits.grace_s + limits.shutdown_s + PATIENCE_S) as scope:
            await server.stopped.wait()
        assert not scope.cancelled_caught, "the server did not stop in time"


def text_frame(text: bytes, *, final: bool = True, opcode: int = 1) -> bytes:
    """Return a masked WebSocket frame as a client sends it."""
    size = len(text)
    length = (
        bytes([0x80 | size])
        if size < 126
        else b"\xfe" + size.to_bytes(2)
        if size < 65536
        else b"\xff" + size.to_bytes(8)
    )
    return bytes([(0x80 if final else 0) | opcode]) + length + b"\0\0\0\0" + text


def error_of(answer: Answer) -> dict[str, str]:
    """Check that an answer has the error shape without a reason; return its body."""
    assert answer.headers["content-type"] == "application/json"
    body = json.loads(answer.body)
    assert body.keys() == {"error"}
    assert isinstance(body["error"], str)
    found: dict[str, str] = body
    return found


def raw_request(line: str, *headers: str, host: str = "Host: h\r\n") -> bytes:
    return (
        f"{line}\r\n{host}{''.join(header + chr(13) + chr(10) for header in headers)}\r\n".encode(
            "latin-1"
        )
    )
