"""hypercorn 0.18's protocol layer with its open ends closed. `pgs.http.transport.connection` does the same for the socket below it.

What each guard is against, as seen by running it:

- An answer to a request whose body was still queued deadlocked: the disconnect waited for room in the full queue of the task that sent it.
- A send on a closed connection returned at once without a checkpoint, so that a loop of sends froze every other task.
- HTTP/2 was accepted in clear text, by upgrade and by prior knowledge, past every rule of ours. Only HTTP/1 is spoken.
- A WebSocket handshake with a body or an 8-bit header ended in an exception; a frame before the accept left the handler for ever without
  its disconnect; and a message over the limit kept growing in memory after the close frame.
- Bytes behind the last request of a connection were an error at once, which cut off the answer that was just being sent.
- A message over the limit reached the application only once it had ended, so that a client was told so late or never.
- A frame that breaks the protocol, text that is no UTF-8 for one, ended the connection without a close frame.
- A segment full of empty frames was worked through in one breath.
- A head that h11 refuses, or a WebSocket handshake that wsproto does, was answered without an id and a body; a method in small letters
  was served as if it were in capitals. The edge makes these answers now.
- Compressed WebSocket messages have no bound on what they unpack to (58 kB became 172 MB): the extension is never agreed to.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import inf
from typing import Any, Final, Protocol, cast
from urllib.parse import unquote

import h11
import hypercorn.protocol.h11
import hypercorn.protocol.ws_stream
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event
from hypercorn.protocol.events import Body, Data, EndBody, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.protocol.ws_stream import FrameTooLargeError, WebsocketBuffer, WSStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope
from wsproto.connection import ConnectionState
from wsproto.events import CloseConnection, Message, Ping
from wsproto.frame_protocol import CloseReason

from pgs.http.transport.asgi import Headers, OnEvent
from pgs.http.transport.limits import ServerLimits

FRAMES_PER_BREATH: Final = 64
"""Frames of a WebSocket that are handled before another task may run: about half a millisecond of
work."""


class Connection(Protocol):
    """What a stop needs of an open connection."""

    def begin_stop(self) -> None: ...


Refuse = Callable[[str, str, int], tuple[int, Headers, bytes]]
"""Method, path and the parser's status to the answer for a request that never becomes a scope: its status, headers and body."""


class GuardedConfig(Config):
    """hypercorn's configuration for one listener, with the state that its connections share: who is open, and whether a stop began."""

    def __init__(
        self,
        limits: ServerLimits,
        on_event: OnEvent,
        max_connections: int,
        refuse: Refuse | None = None,
    ) -> None:
        self.limits = limits
        self.refuse = refuse
        self.on_event = on_event
        self.max_connections = max_connections
        self.open: set[Connection] = set()
        self.stopping = False
        self.grace_ends = inf
        self.accesslog = None
        self.errorlog = None
        self.include_server_header = False
        self.alpn_protocols = ["http/1.1"]
        self.h11_max_incomplete_size = limits.head_bytes
        self.keep_alive_max_requests = limits.requests_per_connection
        self.graceful_timeout = limits.grace_s
        self.startup_timeout = limits.startup_s
        self.shutdown_timeout = limits.shutdown_s
        self.websocket_ping_interval = limits.websocket_ping_s
        self.websocket_max_message_size = limits.websocket_message_chars

    def begin_stop(self) -> None:
        """Ends idle connections now, and gives those with a request in flight the grace."""
        self.stopping = True
        self.grace_ends = trio.current_time() + self.limits.grace_s
        for connection in self.open:
            connection.begin_stop()


class GuardedTasks(TaskGroup):
    """hypercorn's task group of one connection, whose applications always learn of a disconnect and never hold up whoever tells them."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: set[trio.MemorySendChannel[ASGIReceiveEvent]] = set()
        self._side_scopes: set[trio.CancelScope] = set()

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Starts the application on one request; returns where to put its events."""
        events, inbox = trio.open_memory_channel[ASGIReceiveEvent](config.max_app_queue_size)
        self._inputs.add(events)

        async def put(event: ASGIReceiveEvent) -> None:
            if event["type"] in ("http.disconnect", "websocket.disconnect"):
                events.close()
                return
            try:
                await events.send(event)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                # The application is done or the client gone: the rest is read and dropped, but never in one breath.
                await trio.lowlevel.checkpoint()

        if self._nursery is None:
            raise RuntimeError("a connection's applications start inside its task group")
        self._nursery.start_soon(self._run_app, app, scope, send, events, inbox)
        return put

    async def _run_app(
        self,
        app: AppWrapper,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
        events: trio.MemorySendChannel[ASGIReceiveEvent],
        inbox: trio.MemoryReceiveChannel[ASGIReceiveEvent],
    ) -> None:
        socket = scope["type"] == "websocket"
        gone = (
            {"type": "websocket.disconnect", "code": 1006}
            if socket
            else {"type": "http.disconnect"}
        )

        async def receive() -> ASGIReceiveEvent:
            try:
                return await inbox.receive()
            except (trio.EndOfChannel, trio.ClosedResourceError):
                await trio.lowlevel.checkpoint()
                return cast("ASGIReceiveEvent", dict(gone))

        async def yielding_send(message: ASGISendEvent) -> None:
            await send(message)
            if socket or message.get("more_body"):
                await trio.lowlevel.checkpoint()

        try:
            await app(scope, receive, yielding_send, trio.to_thread.run_sync, trio.from_thread.run)
        finally:
            inbox.close()
            self._inputs.discard(events)
            with trio.CancelScope(shield=True):  # Bounded: each write in it is.
                await send(None)

    def spawn(self, func: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Starts a task (hypercorn: the pings of a WebSocket) that ends with the reader, however long it sleeps."""
        if self._nursery is None:
            raise RuntimeError("a connection's tasks start inside its task group")
        self._nursery.start_soon(self._run_side, func, args)

    async def _run_side(self, func: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        with trio.CancelScope() as scope:
            self._side_scopes.add(scope)
            try:
                await func(*args)
            finally:
                self._side_scopes.discard(scope)

    def reader_ended(self) -> None:
        """Tells applications that nothing more comes, and ends side tasks."""
        for events in self._inputs:
            events.close()
        for scope in self._side_scopes:
            scope.cancel()


class CutBuffer(WebsocketBuffer):
    """Assembles a message and keeps one character more than the limit, so that the application sees "too long" and closes in its own words.

    Such a one is `full` before it has ended. Input beyond that is counted, not kept; past `flood` characters the connection is closed
    (1009).
    """

    def __init__(self, limit: int, flood: int) -> None:
        super().__init__(limit + 1)
        self.flood = flood
        self.seen = 0
        self.flooded = False
        self.passed_on = False

    @property
    def full(self) -> bool:
        return self.length == self.max_length

    def extend(self, event: Message[Any]) -> None:
        self.seen += len(event.data)
        if self.seen > self.flood:
            self.flooded = True
            raise FrameTooLargeError
        super().extend(replace(event, data=event.data[: self.max_length - self.length]))

    def clear(self) -> None:
        super().clear()
        self.seen = 0
        self.passed_on = False


class GuardedSocket(WSStream):
    """hypercorn's WebSocket with bounded messages, which closes before it refuses an early frame, so that no accept races the refusal."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limits = cast("GuardedConfig", self.config).limits
        self.buffer: CutBuffer = CutBuffer(
            limits.websocket_message_chars, limits.websocket_flood_chars
        )

    async def handle(self, event: StreamEvent) -> None:
        early = isinstance(event, Body | Data) and not self.closed and not self.handshake.accepted
        if early:
            self.closed = True
            await self._send_error_response(400)
        else:
            await super().handle(event)

    async def _send_error_response(self, status_code: int) -> None:
        answer = cast("GuardedConfig", self.config).refuse
        if answer is None:
            await super()._send_error_response(status_code)
            return
        status, headers, content = answer("GET", self.scope["path"], status_code)
        await self.send(Response(stream_id=self.stream_id, status_code=status, headers=headers))
        await self.send(Body(stream_id=self.stream_id, data=content))
        await self.send(EndBody(stream_id=self.stream_id))

    async def _handle_events(self) -> None:
        for number, event in enumerate(self.connection.events(), 1):
            if number % FRAMES_PER_BREATH == 0:
                await trio.lowlevel.checkpoint()
            if isinstance(event, Message):
                try:
                    await self._take(event)
                except FrameTooLargeError:
                    await self._send_wsproto_event(
                        CloseConnection(code=CloseReason.MESSAGE_TOO_BIG)
                    )
                    return
            elif isinstance(event, Ping):
                await self._send_wsproto_event(event.response())
            elif isinstance(event, CloseConnection):
                # Of its own faults the client learns the code alone: wsproto's sentence about them may quote what it sent.
                theirs = self.connection.state is ConnectionState.REMOTE_CLOSING
                await self._send_wsproto_event(
                    event.response() if theirs else CloseConnection(code=event.code)
                )
                await self.send(StreamClosed(stream_id=self.stream_id))
                return

    async def _take(self, event: Message[Any]) -> None:
        self.buffer.extend(event)
        if (
            (event.message_finished or self.buffer.full)
            and not self.buffer.passed_on
            and self.app_put is not None
        ):
            self.buffer.passed_on = True
            await self.app_put(self.buffer.to_message())
        if event.message_finished:
            self.buffer.clear()


class PatientConnection(h11.Connection):
    """An h11 connection that looks at nothing behind a request while that request is still being answered.

    `head` is what the request line was last looked for in. hypercorn raises methods to capitals, so small letters are refused here:
    methods are case-sensitive (RFC 9110 section 9.1).
    """

    head = b""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        if self.their_state is h11.IDLE:
            self.head = self.trailing_data[0]
        answering = self.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY)
        if answering and self.their_state is h11.MUST_CLOSE and self.trailing_data[0]:
            return h11.PAUSED
        event = super().next_event()
        if isinstance(event, h11.Request) and event.method != event.method.upper():
            raise h11.RemoteProtocolError("a method in small letters")
        return event


class GuardedH11(H11Protocol):
    """hypercorn's HTTP/1.1 protocol that stays one, and that ends a connection whose stream hypercorn left for dead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connection = PatientConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )

    async def _check_protocol(self, event: h11.Request) -> None:
        """Passes all: an upgrade to h2c is ignored (RFC 9110 section 7.8 allows it), and the edge refuses `PRI * HTTP/2.0`."""

    async def _create_stream(self, request: h11.Request) -> None:
        headers = list(request.headers)
        if any(_spoils_handshake(name, value) for name, value in headers):
            request = h11.Request(
                method=request.method,
                target=request.target,
                http_version=request.http_version,
                headers=[(name, value) for name, value in headers if name != b"upgrade"],
            )
        await super()._create_stream(request)

    async def _send_error_response(self, status_code: int) -> None:
        answer = cast("GuardedConfig", self.config).refuse
        if answer is None:
            await super()._send_error_response(status_code)
            return
        method, path = _request_line(cast("PatientConnection", self.connection).head)
        status, headers, content = answer(method, path, status_code)
        if method == "HEAD":  # h11 cannot know: what it refused has no method
            headers, content = [item for item in headers if item[0] != b"content-length"], b""
        await self._send_h11_event(h11.Response(status_code=status, headers=headers))
        await self._send_h11_event(h11.Data(data=content))
        await self._send_h11_event(h11.EndOfMessage())

    async def handle(self, event: Event) -> None:
        await super().handle(event)
        if isinstance(self.stream, GuardedSocket) and (
            self.stream.closed or self.stream.buffer.flooded
        ):
            await self.send(Closed())


def _request_line(head: bytes) -> tuple[str, str]:
    """The method and the decoded path of a head that was refused; empty where there is none to be told."""
    words = head.lstrip(b"\r\n").partition(b"\n")[0].split()
    if len(words) != 3:
        return "", ""
    return words[0].decode("latin-1"), unquote(words[1].partition(b"?")[0].decode("latin-1"))


def _spoils_handshake(name: bytes, value: bytes) -> bool:
    """Whether this header makes hypercorn stumble over a WebSocket handshake, which then is answered as the plain GET that it also is."""
    if name == b"content-length":
        return value != b"0"
    return name == b"transfer-encoding" or (
        name.startswith(b"sec-websocket-") and not value.isascii()
    )


vars(hypercorn.protocol.ws_stream).update(
    server_extensions_handshake=lambda *_args, **_kwargs: None
)
vars(hypercorn.protocol.h11).update(WSStream=GuardedSocket)
