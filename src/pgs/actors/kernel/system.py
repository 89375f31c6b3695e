"""The system of actors: it starts, tends and stops the tasks of all actors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from typing import Any, Protocol

import structlog
import trio

from pgs.actors.kernel.mail import Interrupted, Overloaded
from pgs.storage.transactions import StoreOutage

TEND_S = 1.0
"""Seconds between two checks of all mailboxes. An ask that waits past its deadline is refused at
most this much later."""

STOP_GRACE_S = 3.5
"""Seconds that an actor may still spend on its current message when the service stops, or when this
node gives up the actor's shard. Part of the 15 s that a stop may take."""

log = structlog.get_logger("pgs.actors")


class RunningActor(Protocol):
    """An actor with a task, as the system sees it."""

    name: str

    def tend(self, now: float) -> None:
        """Refuse the asks whose deadline has passed; end the task of an idle actor."""
        ...

    def stop(self) -> None:
        """Refuse queued messages; end the task after the current one, or after `STOP_GRACE_S`."""
        ...


class System:
    """Runs all actors in one nursery.

    Start `refuse_when_cancelled` in that nursery, and call `tend` every `TEND_S`. `cells` are the
    actors with a task. `now` reads trio's clock without looking up the trio run each time, so
    create the system inside the trio run.
    """

    def __init__(
        self, nursery: trio.Nursery, on_event: Callable[[str], None] = lambda name: None
    ) -> None:
        self.nursery = nursery
        self.now = trio.lowlevel.current_clock().current_time
        self.on_event = on_event
        self.cells: set[RunningActor] = set()
        self.stopping = False
        self._empty = trio.Event()
        # A new task inherits its caller's context variables. An actor's task outlives the request
        # that opened it, so it must not keep that request's variables.
        self._context = copy_context()

    def spawn(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Start a child task unless the service is stopping. Its errors are logged and counted."""
        if not self.stopping:
            self._context.run(lambda: self.nursery.start_soon(self._guarded, work, args))

    async def _guarded(self, work: Callable[..., Awaitable[None]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except Exception as error:
            outage = isinstance(error, StoreOutage | Interrupted)
            self.report(
                "store_outage" if outage else "child_crashed",
                error,
                work=getattr(work, "__qualname__", repr(work)),
            )

    def enter(self, cell: RunningActor, run: Callable[[], Awaitable[None]]) -> None:
        """Start an actor's task. Raises `Overloaded` when the nursery is gone."""
        try:
            self._context.run(lambda: self.nursery.start_soon(run, name=cell.name))
        except RuntimeError:  # the nursery is closed
            self.stopping = True
            raise Overloaded("stopping") from None
        self.cells.add(cell)

    def leave(self, cell: RunningActor) -> None:
        """Note that an actor's task has ended."""
        self.cells.discard(cell)
        if self.stopping and not self.cells:
            self._empty.set()

    def report(self, event: str, error: Exception | None = None, **fields: object) -> None:
        """Count and log an event, with its error if there is one. Never raises."""
        with suppress(Exception):
            self.on_event(event)
            if error is None:
                log.warning(event, **fields)
            else:
                log.error(event, exc_info=error, **fields)

    def tend(self) -> None:
        """Refuse the asks whose deadline passed in a queue; close actors that have been idle."""
        now = self.now()
        for cell in tuple(self.cells):
            cell.tend(now)

    async def refuse_when_cancelled(self) -> None:
        """Wait until the nursery is cancelled; then begin to stop, as `stop` does.

        Start it in the system's nursery, which may be cancelled without a call of `stop`.
        """
        try:
            await trio.sleep_forever()
        finally:
            self._refuse_from_now_on()

    async def stop(self) -> None:
        """Refuse queued and new messages, and end every task.

        Each actor has `STOP_GRACE_S` to finish its current message.
        """
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
    """Yield a system of actors, and stop it at the end of the block."""
    async with trio.open_nursery() as nursery:
        system = System(nursery, on_event)
        nursery.start_soon(system.refuse_when_cancelled)
        try:
            yield system
        finally:
            with trio.CancelScope(shield=True):
                await system.stop()
