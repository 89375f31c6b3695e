"""One request and its response on their way through the edge: over HTTP, or as a WebSocket."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec
import structlog
import trio

from pgs.http.transport.asgi import App, Headers, Message, OnEvent, Receive, Scope, Send
from pgs.http.transport.heads import Fault, Head, stamp

BodyLimit = Callable[[str], int]
"""Takes a path and returns the bytes that a request's body may have."""

DRAIN_S: Final = 2.0
"""Seconds for the unread body of an answered request to arrive, so that the connection can be used
again."""

_log = structlog.get_logger("pgs.http")

CRASH: Final = Fault(
    500, "The service failed to handle this request. The request id names it in the log."
)
_TOO_SLOW: Final = Fault(408, "The request body took too long to arrive.")
_NO_SOCKET: Final = Fault(403, "No WebSocket is accepted here.")

_UNEXPECTED: Final = 1011
"""Close code of a server that failed (RFC 6455, section 7.4.1)."""


class BodyRefused(Exception):
    """Raised by the application's `receive` if the request's body is refused.

    The edge answers the request, whatever the application does with this exception.
    """


def answer_to(fault: Fault, *, close: bool) -> tuple[Headers, bytes]:
    """Return headers and body of a response whose body is `{"error": message}`.

    With `close`, the connection ends after it.
    """
    body = msgspec.json.encode({"error": fault.message})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if close:
        headers.append((b"connection", b"close"))
    return headers, body


def report_crash(on_event: OnEvent, request_id: str, crash: BaseException) -> None:
    """Count an exception that an application raised, and log it with the id of its request."""
    while isinstance(crash, BaseExceptionGroup) and len(crash.exceptions) == 1:
        crash = crash.exceptions[0]
    on_event("crash")
    _log.error("crash", request_id=request_id, exc_info=crash)


class EdgeSettings(msgspec.Struct, frozen=True):
    """The settings of an edge, which apply to every request."""

    current_version: int
    on_event: OnEvent
    body_limit: BodyLimit
    body_s: float


class Exchange(ABC):
    """What HTTP and WebSocket exchanges have in common.

    `status` is the response's, and 0 before it starts. It stays 0 if the client leaves first.
    """

    def __init__(
        self,
        settings: EdgeSettings,
        scope: Scope,
        head: Head | Fault,
        request_id: str,
        receive: Receive,
        send: Send,
    ) -> None:
        self.status = 0
        self._settings = settings
        self._scope = scope
        self._head = head
        self._path: str = scope["path"]
        self._request_id = request_id
        self._receive = receive
        self._send = send
        self._gone = False

    async def run(self, app: App) -> None:
        """Refuse the request, or have `app` answer it; if `app` fails, answer in its place."""
        if isinstance(self._head, Fault):
            self._settings.on_event("refused")
            await self._answer(self._head, close=True)
            return
        crash: BaseException | None = None
        try:
            await app(self._scope, self._guarded_receive, self._guarded_send)
        except* Exception as group:
            _, crash = group.split(BodyRefused)
        if crash is None and not (self._answered() or self._gone):
            crash = RuntimeError("the application returned without an answer")
        if crash is not None:
            report_crash(self._settings.on_event, self._request_id, crash)
            await self._after_crash()

    def _answered(self) -> bool:
        """Return whether at least the start of a response has been sent."""
        return self.status != 0

    def _stamped(self, headers: Headers) -> Headers:
        return stamp(
            headers,
            path=self._path,
            request_id=self._request_id,
            current_version=self._settings.current_version,
        )

    async def _answer(self, fault: Fault, *, close: bool) -> None:
        """Send a whole response with the fault's status and message."""
        headers, body = answer_to(fault, close=close)
        prefix = "http" if self._scope["type"] == "http" else "websocket.http"
        self.status = fault.status
        await self._send(
            {
                "type": f"{prefix}.response.start",
                "status": fault.status,
                "headers": self._stamped(headers),
            }
        )
        await self._send({"type": f"{prefix}.response.body", "body": body, "more_body": False})

    @abstractmethod
    async def _guarded_receive(self) -> Message: ...

    @abstractmethod
    async def _guarded_send(self, message: Message) -> None: ...

    @abstractmethod
    async def _after_crash(self) -> None: ...


class HttpExchange(Exchange):
    """A plain request. Its body is counted and timed, and its response gets the usual headers."""

    _taken = 0
    _body_ended = False
    _receiving = 0
    _took: trio.Event | None = None
    _deadline: float | None = None
    _refusal: Fault | None = None

    async def run(self, app: App) -> None:
        """Refuse a body whose stated length is too long; otherwise let `app` answer.

        If the body proves too long or too slow later, the edge answers in place of `app`.
        """
        if isinstance(self._head, Head):
            self._body_ended = not self._head.has_body
            self._limit = self._settings.body_limit(self._path)
            if (self._head.content_length or 0) > self._limit:
                await self._refuse_body(self._too_large())
                return
        await super().run(app)

    def _too_large(self) -> Fault:
        return Fault(413, f"The request body is larger than {self._limit} bytes, its limit here.")

    def _answered(self) -> bool:
        return self.status != 0 or self._refusal is not None

    async def _after_crash(self) -> None:
        # A response that has begun is left unfinished: the server then closes the connection, and
        # the client sees that something went wrong.
        if not self._answered():
            await self._answer(CRASH, close=True)

    async def _refuse_body(self, fault: Fault) -> None:
        self._refusal = fault
        self._settings.on_event("body_refused")
        if self.status == 0:
            await self._answer(fault, close=True)

    async def _guarded_receive(self) -> Message:
        if self._refusal is not None:
            raise BodyRefused
        if self._body_ended:
            message = await self._receive()
            self._gone = self._gone or message["type"] == "http.disconnect"
            return message
        if self._deadline is None:
            self._deadline = trio.current_time() + self._settings.body_s
        fault = _TOO_SLOW
        with trio.CancelScope(deadline=self._deadline):
            message = self._count(await self._take())
            if self._taken <= self._limit:
                return message
            fault = self._too_large()
        await self._refuse_body(fault)
        raise BodyRefused

    async def _take(self) -> Message:
        self._receiving += 1
        try:
            return await self._receive()
        finally:
            self._receiving -= 1
            if self._took is not None:
                self._took.set()

    def _count(self, message: Message) -> Message:
        if message["type"] == "http.disconnect":
            self._gone = self._body_ended = True
        else:
            self._taken += len(message.get("body", b""))
            self._body_ended = not message.get("more_body", False)
        return message

    async def _guarded_send(self, message: Message) -> None:
        if self._refusal is not None:
            # The edge has answered already: drop what the application sends. The checkpoint lets
            # other tasks run in between.
            await trio.lowlevel.checkpoint()
            return
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            message = {**message, "headers": self._stamped(list(message.get("headers", [])))}
        elif (
            not self._body_ended
            and message["type"] == "http.response.body"
            and not message.get("more_body", False)
        ):
            await self._send({**message, "more_body": True})
            await self._drain()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def _drain(self) -> None:
        """Read the rest of an answered request's body, within `DRAIN_S` and the body's limit.

        If a task of the application is reading it, wait for that task.
        """
        with trio.move_on_after(DRAIN_S):
            while not self._body_ended and self._taken <= self._limit:
                if self._receiving:
                    self._took = trio.Event()
                    await self._took.wait()
                else:
                    self._count(await self._take())


class WebSocketExchange(Exchange):
    """A WebSocket. The answer to its handshake gets the usual headers.

    The socket is closed with 1011 if the application fails.
    """

    _accepted = False
    _closed = False

    async def _after_crash(self) -> None:
        if not self._answered():
            await self._answer(CRASH, close=True)
        elif self._accepted and not (self._closed or self._gone):
            self._closed = True
            await self._send({"type": "websocket.close", "code": _UNEXPECTED, "reason": ""})

    async def _guarded_receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            self._gone = True
        return message

    async def _guarded_send(self, message: Message) -> None:
        kind = message["type"]
        if kind == "websocket.accept":
            self.status = HTTPStatus.SWITCHING_PROTOCOLS.value
            self._accepted = True
            message = {**message, "headers": self._stamped(list(message.get("headers", [])))}
        elif kind == "websocket.http.response.start":
            self.status = int(message["status"])
            message = {**message, "headers": self._stamped(list(message.get("headers", [])))}
        elif kind == "websocket.close":
            if not self._answered():
                # hypercorn's own refusal would lack our headers and body.
                await self._answer(_NO_SOCKET, close=True)
                return
            self._closed = True
        await self._send(message)
