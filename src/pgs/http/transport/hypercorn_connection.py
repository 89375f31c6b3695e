"""hypercorn 0.18's connection handling, with fixes for faults that were seen in practice.

A misbehaving client affects only its own connection, and only for a bounded time. `GuardedServer`
replaces `hypercorn.trio.tcp_server.TCPServer`. The faults:

- An exception of the protocol ended the process; a WebSocket upgrade with a body raised one. Here
  `run` catches it.
- Writes were shielded without a limit: a client that never reads kept its handler beyond any
  timeout and any stop. Here each write is bounded.
- The idle timer was a task that the application's task started after the answer. By then quart-trio
  had cancelled the application's task, so the timer never ran. Here the reader has a deadline
  instead. Even a cancelled task can set it, because that takes no checkpoint.
- If a request was pipelined behind one in flight when a stop began, the reader waited until the
  stop's grace period was over. Here the reader's wait ends when the connection closes.
- Closing with unread input makes the kernel send a reset, which can destroy the response on its
  way. Here a closing connection is read for a short while.
"""

import contextlib
import enum
import traceback
from math import inf
from typing import Final, cast

import structlog
import trio
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.typing import ConnectionState
from hypercorn.utils import parse_socket_addr

from pgs.http.transport.hypercorn_http1 import GuardedH11, GuardedTasks
from pgs.http.transport.lane_connection import LaneConnection, LeaveLane
from pgs.http.transport.lane_socket import LaneSocket
from pgs.http.transport.listener_state import GuardedConfig

_log = structlog.get_logger("pgs.http")

SEND_CHUNK: Final = 64 * 1024
"""Bytes of one timed write. With 5 s for each, a client must take 13 kB/s. Any line that is fit for
playing is faster."""


class _Http1Only(ProtocolWrapper):
    """Chooses HTTP/1.1 for every connection, in place of hypercorn's choice between protocols."""

    def __init__(self, protocol: H11Protocol) -> None:
        self.protocol = protocol

    async def handle(self, event: Event) -> None:
        await self.protocol.handle(event)


class _Phase(enum.Enum):
    IDLE = enum.auto()
    HEAD = enum.auto()
    BUSY = enum.auto()
    CLOSING = enum.auto()


class GuardedServer(TCPServer):
    """One accepted connection, from its first byte to its last, within `ServerLimits`."""

    async def run(self) -> None:
        """Serve the connection. Whatever the client does, this raises only `Cancelled`."""
        config = self._guarded
        if not config.has_room():
            config.on_event("connection_refused")
            await trio.aclose_forcefully(self.stream)
            return
        config.open.add(self)
        self._writing = trio.CancelScope()
        try:
            await self._converse()
        except* OSError:
            pass  # The peer was gone before its address could be read.
        except* Exception as group:
            config.on_event("connection_crash")
            _log.warning("connection_crash", errors=_summary(group))
        finally:
            config.open.discard(self)
            config.idle.pop(self, None)
            await trio.aclose_forcefully(self.stream)

    @property
    def _guarded(self) -> GuardedConfig:
        return cast("GuardedConfig", self.config)

    _lane: LaneConnection | LaneSocket | None = None

    async def _converse(self) -> None:
        lane, stream = self._guarded.lane, cast("object", self.stream)
        rest = LeaveLane(b"", trio.current_time() + self._guarded.limits.head_s, 0)
        if lane is not None and isinstance(stream, trio.SocketStream):
            self._lane = connection = LaneConnection(lane, self._guarded, self, stream, self._send)
            try:
                await connection.serve()
                return
            except LeaveLane as left:
                rest = left.with_traceback(None)  # its traceback would keep the lane in memory
            finally:
                connection.leave()
                self._lane = None
            upgrade = lane.find_upgrade(rest.raw)
            # If this process did not run for a while, the client may have given this handshake up.
            # Serving it now would replace the socket that the player has since opened.
            if upgrade is not None and await _has_left(stream):
                return
            if upgrade is not None and lane.serves(upgrade):
                del connection, rest  # free both: a socket may stay open for hours
                self._guarded.idle.pop(self, None)
                self._lane = socket = LaneSocket(self._guarded, stream, self._send, upgrade)
                await socket.serve(lane.edge)
                return
        await self._converse_with_hypercorn(rest)

    async def _converse_with_hypercorn(self, rest: LeaveLane) -> None:
        socket = self.stream.socket
        tasks = GuardedTasks()
        async with tasks:
            protocol = GuardedH11(
                self.app,
                self.config,
                self.context,
                tasks,
                ConnectionState(self.state),
                False,
                parse_socket_addr(socket.family, socket.getpeername()),
                parse_socket_addr(socket.family, socket.getsockname()),
                self.protocol_send,
            )
            protocol.keep_alive_requests = rest.answered
            self.protocol = _Http1Only(protocol)
            self._phase = _Phase.HEAD if rest.raw else _Phase.IDLE
            if not rest.raw:
                self._guarded.idle[self] = None
            # A new connection has `head_s` for its first byte: `rest.until` is that far ahead. The
            # longer `keep_alive_s` is not needed: a client opens a connection only once it has a
            # request.
            self._deadline = rest.until
            self._reading = trio.CancelScope()
            self._handling = trio.CancelScope()
            if self._guarded.stopping:
                self.begin_stop()
            try:
                if rest.raw:
                    await self._handle(rest.raw)
                await self._read_data()
            finally:
                tasks.reader_ended()

    async def _read_data(self) -> None:
        limits = self._guarded.limits
        lingered = 0
        while True:
            if self._phase is _Phase.BUSY:
                self._deadline = trio.current_time() + limits.read_s
            with trio.CancelScope(deadline=self._deadline) as self._reading:
                try:
                    data = bytes(await self.stream.receive_some(MAX_RECV))
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    data = b""
            if self._reading.cancelled_caught:
                self._count_timeout()
                break
            if self._phase is _Phase.CLOSING:
                lingered += len(data)
                if not data or lingered > limits.linger_bytes:
                    break
                continue
            if self._phase is _Phase.IDLE:
                self._phase = _Phase.HEAD
                self._guarded.idle.pop(self, None)
                self._deadline = trio.current_time() + limits.head_s
            await self._handle(data)
            if not data:
                break
        await self.protocol.handle(Closed())

    async def _handle(self, data: bytes) -> None:
        with trio.CancelScope() as self._handling:
            await self.protocol.handle(RawData(data))

    def _count_timeout(self) -> None:
        name = {_Phase.HEAD: "head_timeout", _Phase.BUSY: "read_timeout"}.get(self._phase)
        if name is not None and not self._guarded.stopping:
            self._guarded.on_event(name)

    async def protocol_send(self, event: Event) -> None:
        """Do what the protocol decided: write, close, or become idle or busy."""
        if isinstance(event, RawData):
            if event.data:
                await self._write(event.data)
        elif isinstance(event, Updated):
            # No checkpoint in this branch: it also runs inside scopes that are already cancelled.
            self._become(_Phase.IDLE if event.idle else _Phase.BUSY)
        elif isinstance(event, Closed):
            await self._finish()
            await self.protocol.handle(Closed())
            self._handling.cancel()

    def _become(self, phase: _Phase) -> None:
        """Enter a phase. An idle connection gets `keep_alive_s`, or ends if a stop has begun."""
        if self._phase is _Phase.CLOSING:
            return
        self._phase = phase
        self._guarded.idle.pop(self, None)
        if phase is _Phase.IDLE:
            self._guarded.idle[self] = None
            self._set_deadline(
                -inf
                if self._guarded.stopping
                else trio.current_time() + self._guarded.limits.keep_alive_s
            )
        elif phase is _Phase.BUSY:
            self._set_deadline(trio.current_time() + self._guarded.limits.read_s)

    def _set_deadline(self, deadline: float) -> None:
        self._deadline = self._reading.deadline = deadline

    def give_way(self) -> None:
        """End this idle connection, because a new one needs its place."""
        if self._lane is not None:
            self._lane.end()
        else:
            self._set_deadline(-inf)

    def sweep(self, now: float) -> None:
        """In the lane, end a wait that has taken too long, and ping a WebSocket when it is time."""
        if self._lane is not None:
            self._lane.sweep(now)

    def begin_stop(self) -> None:
        """End the connection for a stop.

        An idle connection ends immediately. One that is receiving a head ends after `linger_s`. A
        write may last until the grace period ends.
        """
        self._writing.deadline = min(self._writing.deadline, self._guarded.grace_ends)
        if self._lane is not None:
            self._lane.begin_stop()
        elif self._phase is _Phase.IDLE:
            self._set_deadline(-inf)
        elif self._phase is _Phase.HEAD:
            self._set_deadline(
                min(self._deadline, trio.current_time() + self._guarded.limits.linger_s)
            )

    async def _write(self, data: bytes) -> None:
        if not await self._send(data):
            await self.protocol.handle(Closed())
            await trio.lowlevel.checkpoint()

    async def _send(self, data: bytes) -> bool:
        """Write in bounded pieces. Return whether the client took all of them.

        A client that does not take a piece in time loses the connection. After the grace period
        nothing is written.
        """
        config = self._guarded
        lost = trio.current_time() >= config.grace_ends
        if not lost:
            with trio.CancelScope(shield=True) as scope:
                async with self.send_lock:
                    self._writing = scope
                    try:
                        for start in range(0, len(data), SEND_CHUNK):
                            scope.deadline = min(
                                trio.current_time() + config.limits.send_s, config.grace_ends
                            )
                            await self.stream.send_all(data[start : start + SEND_CHUNK])
                    except (trio.BrokenResourceError, trio.ClosedResourceError):
                        lost = True
            if scope.cancelled_caught:
                lost = True
                config.on_event("send_timeout")
        if lost:
            await trio.aclose_forcefully(self.stream)
        return not lost

    async def _finish(self) -> None:
        """Send the end of the stream. The reader goes on and drops what still arrives."""
        if self._phase is _Phase.CLOSING:
            return
        self._phase = _Phase.CLOSING
        self._guarded.idle.pop(self, None)
        self._set_deadline(trio.current_time() + self._guarded.limits.linger_s)
        with trio.CancelScope(shield=True):
            async with self.send_lock:
                with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await self.stream.send_eof()


def _summary(group: BaseExceptionGroup[Exception]) -> list[str]:
    """Return a line for each of the first eight errors: its type and where it was raised.

    An error's own text is left out, since it may repeat what the client sent.
    """
    lines = []
    for error in _leaves(group):
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
        lines.append(f"{type(error).__name__} at {where}")
    return lines[:8]


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


async def _has_left(stream: trio.SocketStream) -> bool:
    """Return whether the client has ended its side, as far as this machine knows."""
    if not stream.socket.is_readable():
        return False
    try:
        return await stream.socket.recv(1, trio.socket.MSG_PEEK) == b""
    except OSError:
        return True
