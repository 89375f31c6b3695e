"""Applications for a server under test, behind the edge and in the lane."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count

import trio
from quart_trio import QuartTrio

from pgs.http.transport.asgi import (
    App,
    ClientGone,
    Headers,
    Message,
    OnEvent,
    Receive,
    Scope,
    Send,
)
from pgs.http.transport.direct import DirectAnswer, DirectRequest
from pgs.http.transport.edge import BODY_S, Edge, default_body_limit
from pgs.http.transport.exchange import BodyLimit


def edge(
    app: App,
    *,
    on_event: OnEvent = lambda name: None,
    body_limit: BodyLimit = default_body_limit,
    body_s: float = BODY_S,
    sockets: Collection[bytes] = (),
) -> Edge:
    """Return an edge around `app` with request ids req_1, req_2 … and version 1.

    `sockets`: paths of WebSockets that the lane may take.
    """
    ids: Iterator[int] = count(1)
    return Edge(
        Direct(app, sockets),
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

    def __init__(self, app: App, sockets: Collection[bytes] = ()) -> None:
        self.app = app
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    direct_paths = frozenset({b"/partner/me"})

    def serves_socket(self, path: bytes, headers: Headers, subprotocols: Sequence[str]) -> bool:
        return path in self._sockets

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
    """Return an application: `app` at one path, and at all others `ok`, for other clients."""

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


def http_app(handler: App) -> App:
    """Return an application: `handler` for requests and sockets, and a lifespan."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await live(receive, send)
        else:
            await handler(scope, receive, send)

    return app
