"""A server under test on a free loopback port, and a client that sends any bytes."""

import json
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Protocol, Self

import trio
from quart_trio import QuartTrio

from pgs.http.transport.asgi import App, ClientGone, Message, OnEvent, Receive, Scope, Send
from pgs.http.transport.direct import DirectAnswer, DirectRequest
from pgs.http.transport.edge import BODY_S, Edge, default_body_limit
from pgs.http.transport.exchange import BodyLimit
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import bind, serve

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

PATIENCE_S = 10.0
"""How many seconds a test waits for anything before it fails. Enough for a slow machine."""

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
        head = (await self._until(b"\r\n\r\n")).decode("latin-1")
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
        while size := int((await self._until(b"\r\n")).strip(), 16):
            body += (await self._exactly(size + 2))[:-2]
        await self._exactly(2)
        return body

    async def _until(self, mark: bytes) -> bytes:
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
    serve_app: ServeApp, app: App, limits: ServerLimits = QUICK
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


def edge(
    app: App,
    *,
    on_event: OnEvent = lambda name: None,
    body_limit: BodyLimit = default_body_limit,
    body_s: float = BODY_S,
) -> Edge:
    """Return an edge around `app` with request ids req_1, req_2 … and version 1."""
    ids: Iterator[int] = count(1)
    return Edge(
        Direct(app),
        new_request_id=lambda: f"req_{next(ids)}",
        current_version=1,
        on_event=on_event,
        body_limit=body_limit,
        body_s=body_s,
    )


class Direct:
    """An application that also answers requests of the lane: it turns them into ASGI.

    Paths that begin with `/streamed` come over ASGI, since their answers do not end.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    def find_direct(self, method: str, path: bytes) -> str | None:
        plain = not path.startswith(b"/streamed") and not isinstance(self.app, QuartTrio)
        return method if plain else None

    async def answer_direct(self, method: str, request: DirectRequest) -> DirectAnswer:
        """Answer, or raise `ClientGone` if the application saw the client leave and is silent."""
        body: list[Message] = [{"type": "http.request", "body": request.body, "more_body": False}]
        sent: list[Message] = []
        gone = False

        async def receive() -> Message:
            nonlocal gone
            if body:
                return body.pop()
            message = await request.receive()
            gone = True
            return message

        async def send(message: Message) -> None:
            await trio.lowlevel.checkpoint()
            sent.append(message)

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": request.path.decode(),
            "raw_path": request.path,
            "query_string": request.query,
            "headers": request.headers,
            "state": {"request_id": request.request_id},
        }
        await self.app(scope, receive, send)
        if not sent and gone:
            raise ClientGone
        if not sent or sent[-1].get("more_body"):
            raise RuntimeError("the application returned without an answer")
        content = b"".join(message.get("body", b"") for message in sent[1:])
        headers = [
            (name.lower(), value)
            for name, value in sent[0].get("headers", ())
            if name.lower() != b"content-length"
        ]
        return DirectAnswer(sent[0]["status"], tuple(headers), content)


def lane_app(app: App) -> Edge:
    """Return the application itself if it has an edge, else an edge around it."""
    return app if isinstance(app, Edge) else edge(app, body_limit=lambda path: 2**30)


async def ok(scope: Scope, receive: Receive, send: Send) -> None:
    """The simplest application: answer at once, without reading the body."""
    if scope["type"] == "lifespan":
        await live(receive, send)
    elif scope["type"] == "http":
        await reply(send, 200, b"ok")
    elif scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass


def only(path: str, app: App) -> App:
    """Return an application that is `app` at one path, and `ok` at all others for other clients."""

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        await (app if scope.get("path") == path else ok)(scope, receive, send)

    return routed


async def live(receive: Receive, send: Send) -> None:
    """Take part in a lifespan until the shutdown; hypercorn requires this of an application."""
    while (event := (await receive())["type"]) != "lifespan.shutdown":
        await send({"type": f"{event}.complete"})
    await send({"type": "lifespan.shutdown.complete"})


async def reply(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Send a whole response."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-length", b"%d" % len(body)), *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def read_body(receive: Receive) -> bytes:
    """Return a request's whole body."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


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


def http_app(handler: App) -> App:
    """Return an application: `handler` for requests and sockets, and a lifespan."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
        else:
            await handler(scope, receive, send)

    return app


def raw_request(line: str, *headers: str, host: str = "Host: h\r\n") -> bytes:
    return (
        f"{line}\r\n{host}{''.join(header + chr(13) + chr(10) for header in headers)}\r\n".encode(
            "latin-1"
        )
    )
