"""The actor kernel: mailboxes, ask and tell, restarts.

A `Cell` is one actor's place: a bounded mailbox that outlives the actor, and a task that runs the actor while there is something to do.
Whoever holds the cell's `Ref` can `ask` (and wait for the answer) or `tell`. The rules are those of docs/architecture.md:

- one message at a time, and one that was taken is carried through its commit even when the asker has gone;
- a full mailbox and a deadline that passed in the queue are answers (`Overloaded`), never waits;
- an actor that breaks loses the one message that broke it; the next one finds it rebuilt from rows;
- every ask is answered exactly once: on a crash, on closing and on stopping too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from typing import Any, TypeVar, cast

import structlog
import trio

from pgs.actors.kernel.mail import (
    LATER,
    Actor,
    Command,
    Crashed,
    Degraded,
    Envelope,
    Message,
    Overloaded,
)
from pgs.actors.kernel.restarts import Watch
from pgs.storage.transactions import ReadFailed, StoreOutage, WriteFailed, WriterFull

R = TypeVar("R")

MAILBOX_LIMIT = 512
"""Asks that may wait for one actor. More than a partner's burst of 300 calls, so the rate limit
refuses first."""

TELL_RESERVE = 4096
"""Messages beyond MAILBOX_LIMIT that are kept for events, because their senders cannot be told to
try again."""

ASK_DEADLINE_S = 5.0
"""Seconds that an ask may wait in a mailbox. After that it is answered as overloaded with nothing
done, since its caller will soon give up."""

TEND_S = 1.0
"""Seconds between two looks through the mailboxes. An ask is answered at most this long after its
deadline."""

IDLE_CLOSE_S = 300.0
"""Seconds without a message after which an actor gives its memory back. Its rows stay, so the next
message opens it again."""

STOP_GRACE_S = 3.5
"""Seconds that the message in hand may still run when the service stops. Part of the 15 s that a
stop may take."""

# What an actor breaks on without being broken itself: the disk's fault, or counted already where it happened.
_NOT_ITS_FAULT = (StoreOutage, WriterFull, Overloaded, Crashed)

log = structlog.get_logger("pgs.actors")


class System:
    """The nursery in which all actors run. It must run `refuse_when_cancelled`, and call `tend`."""

    def __init__(
        self, nursery: trio.Nursery, on_event: Callable[[str], None] = lambda name: None
    ) -> None:
        self.nursery = nursery
        self.on_event = on_event
        self.cells: set[Cell] = set()
        self.stopping = False
        self._empty = trio.Event()
        # Tasks start in the context of whoever calls: a message's sender would lend an actor its request for life.
        self._context = copy_context()

    def spawn(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Start a child task that can end nothing but itself: what it has to say it tells as a message."""
        if not self.stopping:
            self._context.run(lambda: self.nursery.start_soon(self._guarded, work, args))

    async def _guarded(self, work: Callable[..., Awaitable[None]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except Exception as error:
            self.report("child_crashed", error, work=getattr(work, "__qualname__", repr(work)))

    def enter(self, cell: Cell, run: Callable[[], Awaitable[None]]) -> None:
        """Start an actor's task. Raises `Overloaded` when the nursery is gone."""
        try:
            self._context.run(lambda: self.nursery.start_soon(run, name=cell.name))
        except RuntimeError:  # the nursery is closed
            self.stopping = True
            raise Overloaded("stopping") from None
        self.cells.add(cell)

    def leave(self, cell: Cell) -> None:
        """Note that an actor's task has ended."""
        self.cells.discard(cell)
        if self.stopping and not self.cells:
            self._empty.set()

    def report(self, event: str, error: Exception | None = None, **fields: object) -> None:
        """Count and log what went wrong; a log that cannot be written to takes no actor down."""
        with suppress(Exception):
            self.on_event(event)
            if error is None:
                log.warning(event, **fields)
            else:
                log.error(event, exc_info=error, **fields)

    def tend(self) -> None:
        """Answer the asks whose deadline passed in a queue; close actors that have been idle."""
        now = trio.current_time()
        for cell in tuple(self.cells):
            cell.tend(now)

    async def refuse_when_cancelled(self) -> None:
        """Wait until the nursery is cancelled; then refuse what comes, and bound what runs.

        Start it in the system's nursery, which may be cancelled without a call of `stop`.
        """
        try:
            await trio.sleep_forever()
        finally:
            self._refuse_from_now_on()

    async def stop(self) -> None:
        """Let what was taken finish, for up to `STOP_GRACE_S`; refuse what is queued or still comes; then end every task."""
        try:
            self._refuse_from_now_on()
            if self.cells:
                with trio.move_on_after(STOP_GRACE_S):
                    await self._empty.wait()
        finally:
            self.nursery.cancel_scope.cancel()

    def _refuse_from_now_on(self) -> None:
        self.stopping = True
        for cell in tuple(self.cells):
            cell.stop()


@asynccontextmanager
async def open_system(
    on_event: Callable[[str], None] = lambda name: None,
) -> AsyncIterator[System]:
    """Give a system of actors for a block, and stop it at the end."""
    async with trio.open_nursery() as nursery:
        system = System(nursery, on_event)
        nursery.start_soon(system.refuse_when_cancelled)
        try:
            yield system
        finally:
            with trio.CancelScope(shield=True):
                await system.stop()


class Cell:
    """One actor's place: its mailbox, and the task that runs it while there is work."""

    def __init__(
        self,
        name: str,
        system: System,
        watch: Watch,
        make: Callable[[Cell], Actor],
        limit: int = MAILBOX_LIMIT,
    ) -> None:
        self.name = name
        self.system = system
        self.watch = watch
        self.ref = Ref(self)
        self.retired = False
        self._make = make
        self._limit = limit
        self._queue: deque[Envelope] = deque()
        self._deferred: set[Envelope] = set()
        self._parked: trio.lowlevel.Task | None = None
        self._running = False
        self._closing = False
        self._active_at = 0.0
        self._work = trio.CancelScope()
        self._work_until = float("inf")

    @property
    def idle_since(self) -> float | None:
        """When the last message came, in trio's time, or None while one is being handled or waits."""
        busy = self._queue or self._deferred or (self._running and self._parked is None)
        return None if busy else self._active_at

    def post(self, envelope: Envelope, reserve: int = 0) -> None:
        """Put a message into the mailbox, which has room for `reserve` more than its limit, and see that someone handles it.

        Raises `Overloaded` when there is no room or the service is stopping, `Degraded` while the partner rests.
        """
        if self.retired:
            raise RuntimeError(f"{self.name} was closed; resolve the actor anew for every message")
        if self.system.stopping:
            raise Overloaded("stopping")
        now = trio.current_time()
        if self.watch.degraded(now):
            raise Degraded("the partner rests")
        if len(self._queue) >= self._limit + reserve:
            self._drop_expired(now)
        if len(self._queue) >= self._limit + reserve:
            self.system.on_event("mailbox_full")
            raise Overloaded("mailbox full")
        if not self._running:
            self.system.enter(self, self._run)
            self._running = True
        self._queue.append(envelope)
        self._active_at = now
        self._closing = False
        self._wake()

    def _wake(self) -> None:
        task, self._parked = self._parked, None
        if task is not None:
            trio.lowlevel.reschedule(task)

    def tend(self, now: float) -> None:
        """Answer what has waited past its deadline; close an actor that has long been idle."""
        self._drop_expired(now)
        idle = self.idle_since
        if idle is not None and now - idle >= IDLE_CLOSE_S:
            self._closing = True
            self._wake()

    def _drop_expired(self, now: float) -> None:
        if any(envelope.deadline <= now for envelope in self._queue):
            queue, self._queue = self._queue, deque()
            for envelope in queue:
                if envelope.deadline <= now:
                    envelope.fail(Overloaded("deadline"))
                else:
                    self._queue.append(envelope)

    def close_soon(self) -> None:
        """Let the actor go once its mailbox is empty. Whoever sends to it later finds it loaded anew."""
        self._closing = True

    def stop(self) -> None:
        """Refuse what is queued and end the task after the message in hand, which has `STOP_GRACE_S` left."""
        self._closing = True
        self._refuse_queued()
        self._work_until = min(self._work_until, trio.current_time() + STOP_GRACE_S)
        self._work.deadline = self._work_until
        self._wake()

    def _refuse_queued(self) -> None:
        rests = not self.system.stopping and self.watch.degraded(trio.current_time())
        while self._queue:
            self._queue.popleft().fail(
                Degraded("the partner rests") if rests else Overloaded("stopping")
            )

    def _abandon_deferred(self) -> None:
        while self._deferred:
            next(iter(self._deferred)).fail(Crashed("the actor ended before it could answer"))

    async def _run(self) -> None:
        try:
            while await self._live():
                pass
        finally:
            self._running = False
            self._abandon_deferred()
            self._refuse_queued()
            self.system.leave(self)

    async def _live(self) -> bool:
        """Run one life of the actor; return whether another one is to follow."""
        if self._closing and not self._queue:
            return False
        try:
            actor = await self._open()
        except Exception as error:
            # Whoever is first in the queue made it load; the next try is the next one's.
            self._broke(error, self._queue.popleft() if self._queue else None, counts=True)
            return bool(self._queue) and not self.watch.degraded(trio.current_time())
        while actor is not None:
            while not self._queue:
                if self._closing:
                    return False
                await self._park()
            envelope = self._queue.popleft()
            if envelope.deadline <= trio.current_time():
                envelope.fail(Overloaded("deadline"))
                continue
            with self._bounded():
                try:
                    answer = await actor.receive(envelope.message, envelope)
                except Exception as error:
                    if self._refused(error, envelope):
                        continue
                    self._broke(error, envelope, counts=not isinstance(error, _NOT_ITS_FAULT))
                    return not self.watch.degraded(trio.current_time())
                except BaseException:
                    envelope.fail(Crashed("stopped in the middle"))
                    raise
                if answer is LATER:
                    envelope.keep_in(self._deferred)
                else:
                    envelope.answer(answer)
                continue
            return False  # the grace has run out
        return False

    async def _open(self) -> Actor | None:
        """Return the actor with its state loaded, or None when the grace ran out meanwhile."""
        with self._bounded():
            actor = self._make(self)
            await actor.load()
            return actor
        return None

    def _bounded(self) -> trio.CancelScope:
        """Return a scope for what must not be cut short, except by the end of the grace on stopping."""
        self._work = trio.CancelScope(shield=True, deadline=self._work_until)
        return self._work

    async def _park(self) -> None:
        self._parked = trio.lowlevel.current_task()

        def abort(_: Any) -> trio.lowlevel.Abort:
            self._parked = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def _refused(self, error: Exception, envelope: Envelope) -> bool:
        """Fail an ask for which something below had no room, or wrote nothing; return False when it is more than that."""
        if not envelope.is_ask:
            return False  # an event is lost with it: only rows still know what it was about
        if isinstance(error, Overloaded | WriterFull):
            envelope.fail(Overloaded(str(error)))
        elif isinstance(error, WriteFailed):
            self.system.report(
                "store_outage", error, actor=self.name, message=type(envelope.message).__name__
            )
            envelope.fail(Crashed("the write failed"))
        else:
            return False
        return True

    def _broke(self, error: Exception, envelope: Envelope | None, *, counts: bool) -> None:
        """Answer whoever the end of this life concerns, and count it as the partner's crash or not."""
        outage = isinstance(error, StoreOutage)
        message = type(envelope.message).__name__ if envelope else None
        self.system.report(
            "store_outage" if outage else "actor_broke", error, actor=self.name, message=message
        )
        if envelope is not None:
            envelope.fail(
                Crashed(
                    type(error).__name__,
                    error.noun if isinstance(error, ReadFailed | Crashed) else None,
                )
            )
        self._abandon_deferred()
        if counts and self.watch.crashed(trio.current_time()):
            self.system.report(
                "partner_degraded", actor=self.name, seconds=self.watch.limit.cool_down_s
            )


class Ref:
    """The address of an actor. Resolve it anew for every message; do not keep it."""

    __slots__ = ("_cell",)

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    async def ask(self, command: Command[R], within: float = ASK_DEADLINE_S) -> R:
        """Return the actor's answer to `command`.

        `within` is how long, in seconds, the command may wait in the queue. Raises `Overloaded` (nothing was done) or `Crashed` (unknown).
        """
        envelope = Envelope(command, trio.current_time() + within)
        self._cell.post(envelope)
        return cast(R, await envelope.wait())

    def tell(self, message: Message) -> bool:
        """Leave a message; return False, after a log line, when it could not be left. Rows still hold what it was about."""
        try:
            self._cell.post(Envelope(message, is_ask=False), TELL_RESERVE)
        except (Overloaded, Crashed) as error:
            self._cell.system.report(
                "message_dropped",
                actor=self._cell.name,
                message=type(message).__name__,
                why=str(error),
            )
            return False
        return True
