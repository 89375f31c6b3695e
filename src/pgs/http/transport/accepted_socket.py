"""One accepted WebSocket as its handler sees it.

One task reads it and another one writes to it. A socket in the lane has no such writer: its
`DirectSocket` writes immediately, and starts a task only for what the client does not take. A
client's use of time and memory is bounded by `SocketLimits`.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import trio
from outcome import Value

from pgs.http.transport.asgi import OnEvent, Receive, Send, ignore_event
from pgs.http.transport.socket_limits import SocketLimits

NORMAL: Final = 1000
"""Close code of a socket whose handler has finished normally (RFC 6455, section 7.4.1)."""

OVERLOADED: Final = 1013
"""Close code of a server that cannot keep up, or whose client cannot (IANA's WebSocket registry:
try again later)."""


class Backlog:
    """A queue of at most `messages` texts and `chars` characters in total. `put` never waits.

    One task takes from it. A memory channel of trio would take ten times the memory.
    """

    __slots__ = ("_ended", "_messages", "_room", "_taker", "_texts")

    def __init__(self, messages: int, chars: int) -> None:
        self._messages = messages
        self._room = chars
        self._texts: list[str] = []
        self._taker: trio.lowlevel.Task | None = None
        self._ended = False

    def put(self, text: str) -> bool:
        """Queue a text if there is room; return whether there was."""
        if len(text) > self._room or len(self._texts) >= self._messages:
            return False
        self._room -= len(text)
        if self._taker is not None:
            self._wake(text)
        else:
            self._texts.append(text)
        return True

    async def take(self) -> str | None:
        """Return the oldest text, waiting for one; None once the queue has ended and is empty."""
        if self._texts:
            await trio.lowlevel.checkpoint_if_cancelled()
            text = self._texts.pop(0)
            self._room += len(text)
            await trio.lowlevel.cancel_shielded_checkpoint()
            return text
        if self._ended:
            await trio.lowlevel.checkpoint()
            return None
        self._taker = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._taker = None
            return trio.lowlevel.Abort.SUCCEEDED

        found: str | None = await trio.lowlevel.wait_task_rescheduled(abort)
        self._room += len(found or "")
        return found

    def end(self) -> None:
        """Let `take` return None once the queue is empty. No text may be put after this."""
        self._ended = True
        if self._taker is not None:
            self._wake(None)

    def _wake(self, text: str | None) -> None:
        task, self._taker = self._taker, None
        if task is not None:
            trio.lowlevel.reschedule(task, Value(text))


class DirectSocket(Protocol):
    """A connection that carries the messages of an accepted socket without ASGI."""

    def begin(self, nursery: trio.Nursery, limits: SocketLimits) -> None:
        """Prepare for `put`: tasks in `nursery` write what the client does not take immediately."""

    def put(self, text: str) -> bool:
        """Write or queue a message; return whether there was room."""

    async def listen(self, hear: Callable[[str | None], bool]) -> None:
        """Pass messages to `hear`, binary ones as None.

        Returns once `hear` has returned False or the client has left.
        """

    async def flush(self) -> None:
        """Return once everything that is queued has been written."""

    async def finish(self, code: int | None) -> None:
        """Drop what is queued, and write the close frame unless `code` is None."""


class AcceptedSocket:
    """One accepted socket. Its handler may pass it on, to an actor for example.

    Once this side has closed the socket, the handler is cancelled where it next waits. Once the
    client has left, the handler can still receive what the client sent before. After that the next
    `receive` cancels the handler, as does the end of `drain_s`.
    """

    def __init__(
        self,
        limits: SocketLimits,
        on_event: OnEvent = ignore_event,
        direct: DirectSocket | None = None,
    ) -> None:
        self.code: int | None = None
        """The code with which this side closes the socket. None until this side closes it, and None
        again once the client has left."""

        self._limits = limits
        self._on_event = on_event
        self._over = False
        self._inbox = Backlog(limits.inbox_messages, limits.inbox_chars)
        self._direct = direct
        self._outbox = Backlog(limits.outbox_messages, limits.outbox_chars)
        # Arrival times of the newest messages, at most as many as may come in a second. An empty
        # deque alone would take 760 bytes.
        self._arrivals: list[float] = []
        self._handling = trio.CancelScope()
        self._flushing = trio.CancelScope()

    async def receive(self) -> str:
        """Return the client's next message.

        Call this only from the handler and tasks in its nurseries, because it cancels the handler
        once the client has left.
        """
        text = await self._inbox.take()
        if text is None:
            self._handling.cancel()
            await trio.sleep_forever()
        return text

    def send(self, text: str) -> bool:
        """Return whether the text was accepted: written, or queued to be written.

        It is not accepted if the socket is closing or gone. If the client is too far behind, the
        text is not accepted and the socket is closed. Until it is noticed that the client is gone,
        texts are accepted and lost. This never waits, so an actor may call it in the middle of a
        step. A loop of sends must add a checkpoint.
        """
        if self._over:
            return False
        outbox = self._outbox if self._direct is None else self._direct
        if not outbox.put(text):
            self._fail(OVERLOADED, "socket_overloaded")
            return False
        return True

    def close(self, code: int = NORMAL) -> None:
        """Close the socket once everything that is queued has been sent, or after `flush_s`.

        Only the first close counts.
        """
        if self._over:
            return
        self.code = code
        self._end(self._limits.flush_s)
        self._handling.cancel()

    def _fail(self, code: int, event: str) -> None:
        """Close the socket without sending what is queued."""
        self._on_event(event)
        self.code = code
        self._end(0)
        self._handling.cancel()

    def _leave(self) -> None:
        """Note that the client has left. The handler can still take what it sent before."""
        self._inbox.end()
        if not self._over:
            self._handling.deadline = trio.current_time() + self._limits.drain_s
        self.code = None
        self._end(0)

    def _end(self, flush_s: float) -> None:
        self._over = True
        self._outbox.end()
        self._flushing.deadline = min(self._flushing.deadline, trio.current_time() + flush_s)

    def _hear(self, text: str | None) -> bool:
        """Take a message, None for a binary one. Return False if the client broke a limit."""
        if self._over:
            return True
        if text is None or self._is_abuse(text):
            self._fail(self._limits.abuse_code, "socket_abuse")
            return False
        if not self._inbox.put(text):
            self._fail(OVERLOADED, "socket_overloaded")
            return False
        return True

    async def _read(self, receive: Receive) -> None:
        """Take what the client sends, until it leaves or breaks a limit."""
        while (message := await receive())["type"] != "websocket.disconnect":
            if not self._hear(message.get("text")):
                return
        self._leave()

    async def _listen(self, direct: DirectSocket) -> None:
        """Take what the client sends, like `_read`."""
        broken = False

        def hear(text: str | None) -> bool:
            nonlocal broken
            broken = not self._hear(text)
            return not broken

        await direct.listen(hear)
        if not broken:
            self._leave()

    def _is_abuse(self, text: str) -> bool:
        """Return whether the message is too long, or is beyond `messages_per_second`."""
        limit, now = self._limits.message_bytes, trio.current_time()
        if len(text) > limit or len(text.encode()) > limit:
            return True
        arrivals = self._arrivals
        is_full = len(arrivals) == self._limits.messages_per_second
        too_soon = is_full and now - arrivals.pop(0) < 1
        arrivals.append(now)
        return too_soon

    async def _write(self, send: Send, written: trio.Event) -> None:
        """Send what is queued, then the close frame unless the client has left."""
        with self._flushing:
            while (text := await self._outbox.take()) is not None:
                await send({"type": "websocket.send", "text": text})
        if self.code is not None:
            await send({"type": "websocket.close", "code": self.code, "reason": ""})
        written.set()

    async def run(self, receive: Receive, send: Send, handler: "Handler") -> None:
        """Run `handler` on the socket.

        Returns after the handler: once everything it sent is written, or `flush_s` is over, or the
        client has left.
        """
        written, direct = trio.Event(), self._direct
        try:
            async with trio.open_nursery() as nursery:
                if direct is not None:
                    direct.begin(nursery, self._limits)
                    nursery.start_soon(self._listen, direct)
                else:
                    nursery.start_soon(self._read, receive)
                    nursery.start_soon(self._write, send, written)
                with self._handling:
                    await handler(self)
                self.close(NORMAL)
                if direct is not None:
                    with self._flushing:
                        await direct.flush()
                    await direct.finish(self.code)
                else:
                    await written.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._over = True


Handler = Callable[[AcceptedSocket], Awaitable[None]]
"""Serves one socket, which is closed with `NORMAL` when the handler returns."""
