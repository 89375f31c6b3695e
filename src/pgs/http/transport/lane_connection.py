"""One connection in the lane, until it ends or hypercorn takes it over."""

import enum
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import Final

import trio

from pgs.http.transport.asgi import Message
from pgs.http.transport.lane import Call, Lane, Unfinished
from pgs.http.transport.listener_state import Connection, GuardedConfig

READ_BYTES: Final = 64 * 1024
"""Bytes of one read, as many as a body may have by default. While a call is held, what its
client sends is kept; once that many bytes are kept, no more is read."""

_GONE: Final = {"type": "http.disconnect"}


class _Phase(enum.Enum):
    IDLE = enum.auto()
    HEAD = enum.auto()
    BODY = enum.auto()
    BUSY = enum.auto()
    OVER = enum.auto()


# Every request uses these two phases. To look one up in the class would cost as much as calling a
# function.
_IDLE: Final = _Phase.IDLE
_BUSY: Final = _Phase.BUSY


class LeaveLane(Exception):
    """Raised when the lane's requests end, and hypercorn or a `LaneSocket` has to go on.

    `raw`: the bytes that are not answered, with which the next reader starts. `until`: when their
    head must be complete. `answered`: how many requests the lane has answered.
    """

    def __init__(self, raw: bytes, until: float, answered: int) -> None:
        self.raw = raw
        self.until = until
        self.answered = answered


class LaneConnection:
    """The lane of one connection.

    The time limit of a wait is a number, `_until`, which `sweep` compares with the clock. `sweep`
    wakes a task that has waited for too long. A cancel scope for each wait would cost a tenth of
    the whole request.
    """

    __slots__ = (
        "_answered",
        "_config",
        "_fd",
        "_full",
        "_input",
        "_lane",
        "_late",
        "_owner",
        "_phase",
        "_raw",
        "_send",
        "_stream",
        "_until",
    )

    def __init__(
        self,
        lane: Lane,
        config: GuardedConfig,
        owner: Connection,
        stream: trio.SocketStream,
        send: Callable[[bytes], Awaitable[bool]],
    ) -> None:
        """`send` writes bytes, bounded by `send_s`; it returns whether the client took them all."""
        self._lane = lane
        self._config = config
        self._owner = owner
        self._stream = stream
        self._send = send
        self._fd = stream.socket.fileno()
        self._input = lane.inputs.enter(self._fd)
        self._full = False  # the last read took as much as it could, so there may be more
        self._raw = b""
        self._answered = 0
        self._phase = _IDLE
        self._late = False  # the time is up: every wait has to end, including one that begins later
        # A new connection has `head_s` for its first byte. The longer `keep_alive_s` is not needed:
        # a client opens a connection only once it has a request.
        self._until = self._lane.now() + config.limits.head_s
        config.idle[owner] = None

    async def serve(self) -> None:
        """Answer requests with plain heads until the connection is over. Raises `LeaveLane`."""
        while True:
            if self._raw:  # the client did not wait for the last answer: let other tasks run
                await trio.lowlevel.checkpoint()
                if self._phase is _Phase.OVER:
                    return
            elif not await self._read():
                return
            call = self._lane.take(self._raw)
            if not isinstance(call, Call) or len(self._raw) < call.end:
                call = await self._whole(call)
            if call is None or not await self._serve(call):
                return

    def sweep(self, now: float) -> None:
        """End the wait that has taken too long."""
        if self._until <= now:
            self._until, self._late = inf, True
            if self._phase is _Phase.HEAD and not self._config.stopping:
                self._config.on_event("head_timeout")
            if self._phase in (_Phase.IDLE, _Phase.HEAD):
                self._phase = _Phase.OVER
            self._input.wake()

    def leave(self) -> None:
        """Forget the input of the connection.

        `GuardedServer` calls this once, when the connection ends or leaves the lane.
        """
        self._lane.inputs.leave(self._fd, self._input)

    def end(self) -> None:
        """End the connection if it is idle."""
        if self._phase is _IDLE:
            self._until = -inf
            self.sweep(0)

    def begin_stop(self) -> None:
        """End an idle connection now; if it is receiving a head, end it after `linger_s`."""
        self.end()
        if self._phase is _Phase.HEAD:
            self._until = min(self._until, self._lane.now() + self._config.limits.linger_s)

    async def _whole(self, call: Call | Unfinished | None) -> Call | None:
        """Return a request once all of it is here; None if it never is. Raises `LeaveLane`."""
        limits = self._config.limits
        while isinstance(call, Unfinished):
            if self._phase is _IDLE:
                self._phase = _Phase.HEAD
                self._config.idle.pop(self._owner, None)
                self._until = self._lane.now() + limits.head_s
            if not await self._read():
                self._hand_over_unless(self._phase is _Phase.OVER)
                return None
            call = self._lane.take(self._raw)
        if call is None:
            self._hand_over_unless(False)
        elif len(self._raw) < call.end:
            self._phase = _Phase.BODY
            self._config.idle.pop(self._owner, None)
            self._until = self._lane.now() + limits.lane_body_s
            while len(self._raw) < call.end:
                if not await self._read():
                    self._hand_over_unless(False)
        return call

    def _hand_over_unless(self, over: bool) -> None:
        """Raise `LeaveLane` if the connection is not over."""
        if not over:
            until = self._lane.now() + self._config.limits.head_s
            if self._phase is _Phase.HEAD:
                until = self._until
            raise LeaveLane(self._raw, until, self._answered)

    async def _read(self) -> bool:
        """Append input to `_raw`; return False if the client has left or the wait took too long.

        A sweep wakes only a task that waits. A task that input has just woken, or that does not
        wait yet, learns from `_late` that its time is over.
        """
        while not self._late:
            if self._full:
                await trio.lowlevel.checkpoint()
            else:
                await self._input.wait()
            try:
                data = os.read(self._fd, READ_BYTES)
            except BlockingIOError:
                self._full = False
                continue
            except OSError:
                return False
            self._full = len(data) == READ_BYTES
            self._raw = self._raw + data if self._raw else data
            return bool(data) and not self._late
        return False

    async def _serve(self, call: Call) -> bool:
        """Answer a request. Return whether the connection goes on."""
        config, raw, lane = self._config, self._raw, self._lane
        limits, now = config.limits, lane.now()
        self._raw = raw[call.end :]
        self._phase = _BUSY
        config.idle.pop(self._owner, None)
        self._until, self._late = now + limits.read_s, False
        self._answered += 1
        written = await lane.answer(
            call,
            raw[call.body_at : call.end],
            self._await_end,
            now,
            last=self._answered >= limits.requests_per_connection,
        )
        if written is None:
            return False
        content, idle_from = written.content, written.made_at
        try:
            sent = os.write(self._fd, content)
        except BlockingIOError:
            sent = 0
        except OSError:
            return False
        if sent < len(content):
            if not await self._send(content[sent:]):
                return False
            idle_from = lane.now()
        if written.last or config.stopping:
            await self._linger()
            return False
        self._phase = _IDLE
        config.idle[self._owner] = None
        self._until, self._late = idle_from + limits.keep_alive_s, False
        return True

    async def _await_end(self) -> Message:
        """Return once the client has left, or has sent nothing for `read_s`.

        What the client sends meanwhile is kept. Once `READ_BYTES` are kept, this method reads no
        more, so it cannot notice that the client leaves. It then waits until it is cancelled, which
        happens when the call has its answer.
        """
        while len(self._raw) < READ_BYTES and await self._read():
            self._until = self._lane.now() + self._config.limits.read_s
        if len(self._raw) >= READ_BYTES:
            await trio.sleep_forever()
        return dict(_GONE)

    async def _linger(self) -> None:
        """Send the end of the stream, and drop for a while what still arrives.

        If unread input was left, the kernel would send a reset, which can destroy the response.
        """
        self._phase = _Phase.OVER
        self._until = inf
        left = self._config.limits.linger_bytes
        with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.send_eof()
            with trio.move_on_after(self._config.limits.linger_s):
                while left > 0 and (data := await self._stream.receive_some(READ_BYTES)):
                    left -= len(data)
