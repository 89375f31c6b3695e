"""One WebSocket of the lane, from its handshake to its last byte.

The handshake passes the edge and the application over ASGI. Once it is accepted, messages go
straight between the connection and the `AcceptedSocket`. One task reads, and the handler runs in
another. A task that sends a message to the client also writes it, with one call; only what the
client does not take immediately is written by a separate task.
"""

import os
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from math import inf
from typing import Final

import trio
from trio.lowlevel import wait_readable

from pgs.http.transport.asgi import App, Headers, Message
from pgs.http.transport.hypercorn_websocket import FRAMES_PER_CHECKPOINT
from pgs.http.transport.listener_state import GuardedConfig
from pgs.http.transport.socket_limits import SocketLimits
from pgs.http.transport.sockets import DIRECT_SOCKET
from pgs.http.transport.upgrades import Upgrade
from pgs.http.transport.websocket_frames import PING, FrameReader, close_frame, text_frame

READ_BYTES: Final = 16 * 1024
"""Bytes that one read of a socket takes: more than a hundred times as many as a move takes."""


class LaneSocket:
    """A WebSocket whose handshake is plain.

    The time limit of a wait is a number, `_until`, which `sweep` compares with the clock.
    """

    __slots__ = (
        "_accepted",
        "_config",
        "_ended",
        "_fd",
        "_flushed",
        "_frames",
        "_limits",
        "_lost",
        "_nursery",
        "_ping_at",
        "_refusal",
        "_room",
        "_send",
        "_stream",
        "_unsent",
        "_until",
        "_upgrade",
    )

    def __init__(
        self,
        config: GuardedConfig,
        stream: trio.SocketStream,
        send: Callable[[bytes], Awaitable[bool]],
        upgrade: Upgrade,
    ) -> None:
        """`send` writes bytes, bounded by `send_s`; it returns whether the client took them all."""
        limits = config.limits
        self._config = config
        self._stream = stream
        self._fd = stream.socket.fileno()
        self._send = send
        self._upgrade = upgrade
        self._accepted = False
        self._frames = FrameReader(limits.websocket_message_chars, limits.websocket_flood_chars)
        self._until = trio.current_time() + limits.read_s
        self._ping_at = inf
        self._refusal = b""
        self._ended = False  # no more messages are written: the socket closes, or was refused
        self._lost = False  # nothing can be written any more
        self._unsent: deque[bytes] | None = None  # frames to write; the first is being written
        self._room = 0
        self._limits: SocketLimits | None = None
        self._flushed: trio.Event | None = None
        self._nursery: trio.Nursery | None = None

    async def serve(self, app: App) -> None:
        """Serve the socket with an application whose handler calls `serve_socket`."""
        upgrade = self._upgrade
        path = upgrade.path.decode()
        scope = {
            "type": "websocket",
            "http_version": "1.1",
            "path": path,
            "raw_path": upgrade.path,
            "query_string": upgrade.query,
            "headers": upgrade.headers,
            "subprotocols": upgrade.subprotocols,
            "state": {},
            DIRECT_SOCKET: self,
        }
        await app(scope, self._receive, self._respond)
        if not self._lost:
            await self._linger()

    # --- the handshake

    async def _receive(self) -> Message:
        """Return the connect event; once the socket is accepted, return the disconnect event."""
        return {"type": "websocket.disconnect" if self._accepted else "websocket.connect"}

    async def _respond(self, message: Message) -> None:
        """Write what the application sends over ASGI: its answer to the handshake, or a close."""
        kind = message["type"]
        if kind == "websocket.accept":
            await self._accept(message)
        elif kind == "websocket.http.response.start":
            self._refusal = _head(message["status"], message["headers"])
        elif kind == "websocket.http.response.body":
            self._ended = True
            await self._write_all(self._refusal + message["body"])
        elif kind == "websocket.close":
            await self.finish(message["code"])

    async def _accept(self, message: Message) -> None:
        self._accepted = True
        if self._has_early_bytes() and self._config.refuse is not None:
            method = "GET"
            status, headers, content = self._config.refuse(method, self._upgrade.path.decode(), 400)
            self._ended, self._refusal = True, _head(status, headers) + content
            await self._write_all(self._refusal)
            return
        own = [(b"sec-websocket-accept", self._upgrade.accept)]
        if message.get("subprotocol") is not None:
            own.append((b"sec-websocket-protocol", message["subprotocol"].encode()))
        switch = [(b"upgrade", b"WebSocket"), (b"connection", b"Upgrade")]
        await self._write_all(_head(101, [*own, *switch, *message["headers"]]))
        # Nobody needs these lists any more. Scopes that refer to them live as long as the socket.
        self._upgrade.headers.clear()
        self._upgrade.subprotocols.clear()
        interval = self._config.limits.websocket_ping_s
        self._ping_at = trio.current_time() + (inf if interval is None else interval)

    def _has_early_bytes(self) -> bool:
        """Return whether the client sent frames before its handshake was answered."""
        with suppress(OSError), socket.socket(fileno=os.dup(self._fd)) as peeked:
            return bool(peeked.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        return False

    # --- what an `AcceptedSocket` calls

    @property
    def is_open(self) -> bool:
        """Whether messages can be written: the socket has not ended, and the client is there."""
        return not (self._ended or self._lost)

    def begin(self, nursery: trio.Nursery, limits: SocketLimits) -> None:
        """Prepare for `put`: tasks in `nursery` write what the client does not take immediately."""
        self._nursery, self._limits, self._room = nursery, limits, limits.outbox_chars

    async def listen(self, hear: Callable[[str | None], bool]) -> None:
        """Pass messages to `hear`, binary ones as None.

        Returns once `hear` has returned False or the client has left.
        """
        limits, fd = self._config.limits, self._fd
        while not (self._frames.over or self._refusal):
            # A lost connection is closed, and another one may have its file descriptor by now.
            if self._lost or self._stream.socket.fileno() != fd:
                return
            try:
                await wait_readable(fd)
                if self._stream.socket.fileno() != fd:
                    return
                data = os.read(fd, READ_BYTES)
            except BlockingIOError:
                continue
            except (OSError, trio.ClosedResourceError):
                return
            if not data:
                return
            self._until = trio.current_time() + limits.read_s
            for number, heard in enumerate(self._frames.read(data), 1):
                if number % FRAMES_PER_CHECKPOINT == 0:
                    await trio.lowlevel.checkpoint()
                if isinstance(heard, bytes):
                    if heard:
                        self._answer(heard)
                elif not hear(heard):
                    return

    def put(self, text: str) -> bool:
        """Write or queue a message; return False if the client is too far behind."""
        if not self.is_open:
            return True  # the reader is about to learn that the client is gone
        frame = text_frame(text)
        if len(frame) > self._room or not self._may_queue():
            return False
        self._write(frame)
        return True

    async def flush(self) -> None:
        """Return once everything that is queued has been written."""
        while self._flushed is not None:
            await self._flushed.wait()

    async def finish(self, code: int | None) -> None:
        """Drop what is queued, and write the close frame unless `code` is None.

        A frame that is partly written is completed, within the time for one write.
        """
        was_open, self._ended = self.is_open, True  # nothing else is written from now on
        self._drop_queued()
        await self.flush()
        if code is not None and was_open and not self._lost:
            await self._write_all(close_frame(code))

    # --- time

    def begin_stop(self) -> None:
        """Do nothing: the application closes its sockets at a stop."""

    def end(self) -> None:
        """Do nothing: a socket is never idle."""

    def sweep(self, now: float) -> None:
        """End a socket whose client has been silent for too long, and ping when it is time."""
        if self._lost or self._stream.socket.fileno() != self._fd:
            return
        if self._until <= now:
            self._until = inf
            if not self._config.stopping:
                self._config.on_event("read_timeout")
            trio.lowlevel.notify_closing(self._fd)
        elif self._ping_at <= now and self.is_open:
            self._ping_at = now + (self._config.limits.websocket_ping_s or inf)
            if self._unsent is None:  # a client that does not read gets no ping
                self._write(PING)

    # --- bytes

    def _answer(self, frame: bytes) -> None:
        """Send a pong, or the close frame that ends the socket."""
        if self.is_open:
            if self._frames.over:
                self._drop_queued()
                self._ended = True
            if self._may_queue():
                self._write(frame)

    def _may_queue(self) -> bool:
        most = 0 if self._limits is None else self._limits.outbox_messages
        return self._unsent is None or len(self._unsent) <= most

    def _drop_queued(self) -> None:
        while self._unsent is not None and len(self._unsent) > 1:
            self._room += len(self._unsent.pop())

    def _write(self, frame: bytes) -> None:
        """Write as much as the client takes immediately; a task writes the rest."""
        if self._lost or self._nursery is None:
            return
        if self._unsent is not None:
            self._unsent.append(frame)
            self._room -= len(frame)
            return
        try:
            sent = os.write(self._fd, frame)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._lost = True  # the reader notices the break too
            return
        if sent < len(frame):
            self._unsent, self._flushed = deque([frame[sent:]]), trio.Event()
            self._room -= len(frame) - sent
            self._nursery.start_soon(self._flush)

    async def _flush(self) -> None:
        taken = False
        try:
            while self._unsent:
                if not await self._send(self._unsent[0]):
                    break
                self._room += len(self._unsent.popleft())
            else:
                taken = True
        finally:
            # A cancelled task does this too: `finish` waits until `_flushed` is set.
            self._lost = self._lost or not taken
            self._unsent = None
            if self._flushed is not None:
                self._flushed.set()
                self._flushed = None

    async def _write_all(self, content: bytes) -> None:
        self._lost = self._lost or not await self._send(content)

    async def _linger(self) -> None:
        """Send the end of the stream, and drop for a while what still arrives."""
        self._until, left = inf, self._config.limits.linger_bytes
        with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.send_eof()
            with trio.move_on_after(self._config.limits.linger_s):
                while left > 0 and (data := await self._stream.receive_some(READ_BYTES)):
                    left -= len(data)


def _head(status: int, headers: Headers) -> bytes:
    """Return the head of an answer to a handshake."""
    lines = b"".join([b"%b: %b\r\n" % pair for pair in headers])
    date = formatdate(usegmt=True).encode()
    phrase = HTTPStatus(status).phrase.encode()
    return b"HTTP/1.1 %d %b\r\n%bdate: %b\r\n\r\n" % (status, phrase, lines, date)
