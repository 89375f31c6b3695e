"""The tasks of all actors: started here, tended, and stopped together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from typing import Any, Protocol

import structlog
import trio

from pgs.actors.kernel.mail import Overloaded

TEND_S = 1.0
"""Seconds between two looks through the mailboxes. An ask is answered at most this long after its
deadline."""

STOP_GRACE_S = 3.5
"""Seconds that the message in hand may still run when the service stops. Part of the 15 s that a
stop may take."""

log = structlog.get_logger("pgs.actors")


class RunningActor(Protocol):
    """An actor with a task, as the system sees it."""

    name: str

    def tend(self, now: float) -> None:
        """Answer the asks whose deadline has passed; end the task of an idle actor."""
        ...

    def stop(self) -> None:
        """Refuse what is queued; end the task after the message in hand."""
        ...


class System:
    """The nursery in which all actors run. It must run `refuse_when_cancelled`, and call `tend`.

    `cells` are the actors with a task.
    """

    def __init__(
        self, nursery: trio.Nursery, on_event: Callable[[str], None] = lambda name: None
    ) -> None:
        self.nursery = nursery
        self.on_event = on_event
        self.cells: set[RunningActor] = set()
        self.stopping = False
        self._empty = trio.Event()
        # A task starts in its caller's context variables. An actor's task lives on, and must not
        # keep those of the request that happened to open it.
        self._context = copy_context()

    def spawn(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Start a child task. An error in it is logged and counted, and ends nothing else."""
        if not self.stopping:
            self._context.run(lambda: self.nursery.start_soon(self._guarded, work, args))

    async def _guarded(self, work: Callable[..., Awaitable[None]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except Exception as error:
            self.report("child_crashed", error, work=getattr(work, "__qualname__", repr(work)))

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
        """Count and log what went wrong. It never raises."""
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
        """Wait until the nursery is cancelled; then refuse new messages and bound running ones.

        Start it in the system's nursery, which may be cancelled without a call of `stop`.
        """
        try:
            await trio.sleep_forever()
        finally:
            self._refuse_from_now_on()

    async def stop(self) -> None:
        """Refuse what is queued or still comes, and end every task.

        Messages in hand have `STOP_GRACE_S` to finish.
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
    """Give a system of actors for a block, and stop it at the end."""
    async with trio.open_nursery() as nursery:
        system = System(nursery, on_event)
        nursery.start_soon(system.refuse_when_cancelled)
        try:
            yield system
        finally:
            with trio.CancelScope(shield=True):
                await system.stop()
