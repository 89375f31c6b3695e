"""hypercorn 0.18's tasks and HTTP/1 protocol, with fixes for faults that were seen in practice.

`hypercorn_connection` does the same for the socket below, `hypercorn_websocket` for the WebSocket
stream above. The faults:

- A request that was answered while its body was still queued caused a deadlock: the task that sent
  the answer had to put a disconnect into its own queue, which was full.
- A send on a closed connection returned without a checkpoint, so that a loop of sends froze every
  other task.
- HTTP/2 was accepted in clear text, by upgrade and by prior knowledge, and bypassed all our checks.
- A WebSocket handshake with a body or an 8-bit header ended in an exception.
- Bytes after the last request of a connection ended the connection immediately, although the
  answer to that request was still being sent.
- A head that h11 refuses, or a WebSocket handshake that wsproto refuses, was answered without a
  request id and a body. Now the edge makes these answers.
- A method in lower case was served as if it were in upper case. Now it is refused.
- Status lines had no reason phrase, which some proxies and old clients refuse.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import unquote

import h11
import hypercorn.protocol.h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope

from pgs.http.transport.hypercorn_websocket import GuardedSocket
from pgs.http.transport.listener_state import GuardedConfig

_PHRASES: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_NO_PHRASE: Final = b"Unassigned"


class GuardedTasks(TaskGroup):
    """hypercorn's task group of one connection.

    Applications always learn of a disconnect, and never delay the task that tells them.
    """

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
        """Start the application on one request; return the function that takes its events."""
        events, inbox = trio.open_memory_channel[ASGIReceiveEvent](config.max_app_queue_size)
        self._inputs.add(events)

        async def put(event: ASGIReceiveEvent) -> None:
            if event["type"] in ("http.disconnect", "websocket.disconnect"):
                events.close()
                return
            try:
                await events.send(event)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                # The application has finished or the client has left: read the rest and drop it.
                # The checkpoint lets other tasks run in between.
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
            with trio.CancelScope(shield=True):  # This takes bounded time, since every write does.
                await send(None)

    def spawn(self, func: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Start a task that ends with the reader, such as hypercorn's pings of a WebSocket."""
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
        """Tell applications that nothing more comes, and end the tasks of `spawn`."""
        for events in self._inputs:
            events.close()
        for scope in self._side_scopes:
            scope.cancel()


class PatientConnection(h11.Connection):
    """An h11 connection that reads nothing after a request while it answers that request.

    It gives each status line its reason phrase.

    `head` is the input that was buffered when the latest head was parsed. A method in lower case is
    refused, since methods are case-sensitive (RFC 9110, section 9.1) and hypercorn would turn it
    into upper case.
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

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        if isinstance(event, h11.Response | h11.InformationalResponse) and not event.reason:
            # h11's events are frozen, and a copy would check every header once more.
            object.__setattr__(event, "reason", _PHRASES.get(event.status_code, _NO_PHRASE))
        return super().send_with_data_passthrough(event)


class GuardedH11(H11Protocol):
    """hypercorn's HTTP/1.1 protocol that never switches to HTTP/2.

    It ends the connection once hypercorn has closed its WebSocket. hypercorn itself does not.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connection = PatientConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )

    async def _check_protocol(self, event: h11.Request) -> None:
        """Let every request pass.

        An upgrade to h2c is ignored, which RFC 9110 section 7.8 allows, and the edge refuses
        `PRI * HTTP/2.0`.
        """

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
        # h11 has not read the method of a head that it refused, and would send the body.
        if method == "HEAD":
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
    """Return the method and decoded path of a refused head; both are empty if it has none."""
    words = head.lstrip(b"\r\n").partition(b"\n")[0].split()
    if len(words) != 3:
        return "", ""
    return words[0].decode("latin-1"), unquote(words[1].partition(b"?")[0].decode("latin-1"))


def _spoils_handshake(name: bytes, value: bytes) -> bool:
    """Return whether hypercorn fails on a WebSocket handshake with this header.

    Such a handshake is served as a plain GET.
    """
    if name == b"content-length":
        return value != b"0"
    return name == b"transfer-encoding" or (
        name.startswith(b"sec-websocket-") and not value.isascii()
    )


# hypercorn looks up its WebSocket class in its own module, and offers no setting for it.
vars(hypercorn.protocol.h11).update(WSStream=GuardedSocket)
