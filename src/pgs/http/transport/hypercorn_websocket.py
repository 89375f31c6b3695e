"""hypercorn 0.18's WebSocket stream, with fixes for faults that were seen in practice.

- If a frame arrived before the handshake was accepted, hypercorn answered 400 and did not tell the
  handler, so the handler never ended its wait.
- A message over hypercorn's limit kept growing in memory after the close frame.
- A message over the application's limit, which is smaller, reached the application only once the
  message had ended. So the client learnt of that limit late or never.
- A frame that breaks the protocol, such as text that is not UTF-8, ended the connection without a
  close frame.
- A segment full of empty frames was processed without letting another task run.
- Compressed messages were unpacked without a limit, and deflate turns 58 kB into up to 60 MB. Here
  the compression extension is never accepted.
"""

from dataclasses import replace
from typing import Any, Final, cast

import hypercorn.protocol.ws_stream
import trio
from hypercorn.protocol.events import Body, Data, EndBody, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.ws_stream import FrameTooLargeError, WebsocketBuffer, WSStream
from hypercorn.typing import ASGIReceiveEvent
from wsproto.connection import ConnectionState
from wsproto.events import CloseConnection, Message, Ping
from wsproto.frame_protocol import CloseReason

from pgs.http.transport.listener_state import GuardedConfig

FRAMES_PER_CHECKPOINT: Final = 64
"""Frames of a WebSocket that are handled before another task may run: about half a millisecond of
work."""


class CutBuffer(WebsocketBuffer):
    """Assembles a message of at most `limit` + 1 characters.

    The extra character shows the application that the message is too long, so that the application
    closes the socket with its own code. Such a message is `full` before it has ended. Further input
    is counted but not kept. After `flood` characters the connection is closed with 1009.
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

    def take(self, event: Message[Any]) -> dict[str, Any] | None:
        """Add a part of a message. Return the message once, when it has ended or is `full`.

        Raises FrameTooLargeError when the client is flooding.
        """
        self.extend(event)
        message = None
        if (event.message_finished or self.full) and not self.passed_on:
            self.passed_on = True
            message = self.to_message()
        if event.message_finished:
            self.clear()
        return message

    def clear(self) -> None:
        super().clear()
        self.seen = 0
        self.passed_on = False


class GuardedSocket(WSStream):
    """hypercorn's WebSocket with bounded messages.

    If a frame arrives before the handshake is answered, the handshake is refused. The stream is
    marked as closed first, so that the application cannot accept the handshake in between.
    """

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
            if number % FRAMES_PER_CHECKPOINT == 0:
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
                # A client at fault is told only the code: wsproto's sentence may quote its input.
                theirs = self.connection.state is ConnectionState.REMOTE_CLOSING
                await self._send_wsproto_event(
                    event.response() if theirs else CloseConnection(code=event.code)
                )
                await self.send(StreamClosed(stream_id=self.stream_id))
                return

    async def _take(self, event: Message[Any]) -> None:
        message = self.buffer.take(event)
        if message is not None and self.app_put is not None:
            await self.app_put(cast("ASGIReceiveEvent", message))


# hypercorn looks up this function in its own module, and offers no setting for it.
vars(hypercorn.protocol.ws_stream).update(
    server_extensions_handshake=lambda *_args, **_kwargs: None
)
