"""A cell: the bounded mailbox of one actor, and the task that runs the actor.

The mailbox outlives the actor. The rules are those of docs/architecture.md:

- The actor handles one message at a time. With an ask it may take further waiting asks from the
  queue and handle them together. A message that was taken from the queue is handled to the end,
  even if the asker has left.
- No sender waits for room. An ask is answered as overloaded when the mailbox is full, or when its
  deadline passes in the queue.
- When an actor breaks, the message that broke it is lost. The actor is rebuilt from rows before it
  handles another one.
- Every ask is answered exactly once, even if the actor crashes or closes or the service stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import trio

from pgs.actors.kernel.mail import (
    LATER,
    Actor,
    Crashed,
    Degraded,
    Envelope,
    Interrupted,
    Message,
    NotOwned,
    Overloaded,
)
from pgs.actors.kernel.ref import Ref
from pgs.actors.kernel.restarts import RestartCounter
from pgs.actors.kernel.system import STOP_GRACE_S, System
from pgs.storage.transactions import ReadFailed, StoreOutage, WriteFailed, WriterFull

MAILBOX_LIMIT = 512
"""Messages that may wait for one actor before further asks are refused. More than a partner's usual
burst of 300 calls, so usually the rate limit refuses first."""

IDLE_CLOSE_S = 300.0
"""Seconds without a message after which an actor is closed to free its memory. Its rows stay, so
the next message opens it again."""

# Errors that end an actor's life but are not counted as its crash. The database failed, a queue was
# full, or another actor broke, which counts as that actor's crash. Or the actor raised `Crashed`
# itself, for example after two conflicts in a row.
_NOT_ITS_FAULT = (StoreOutage, WriterFull, Overloaded, Crashed)


class Cell:
    """The mailbox and the task of one actor.

    A message starts the task. The task ends when the actor has long been idle, is closed or breaks
    too often. It also ends when the actor cannot load and no further message waits.
    """

    def __init__(
        self,
        name: str,
        system: System,
        restarts: RestartCounter,
        make: Callable[[Cell], Actor],
        limit: int = MAILBOX_LIMIT,
    ) -> None:
        self.name = name
        self.system = system
        self.restarts = restarts
        self.ref = Ref(self)
        self.retired = False
        self._given_up: trio.Event | None = None
        self._make = make
        self._limit = limit
        # A list, because an empty deque takes 700 bytes more, and every open table has a mailbox.
        self._queue: list[Envelope] = []
        self._deferred: set[Envelope] = set()
        self._parked: trio.lowlevel.Task | None = None
        self._running = False
        self._closing = False
        self._active_at = 0.0
        self._work = trio.CancelScope()
        self._work_until = float("inf")

    @property
    def idle_since(self) -> float | None:
        """When the last message came, in trio's time.

        None while a message waits, is handled, or has not been answered yet.
        """
        busy = self._queue or self._deferred or (self._running and self._parked is None)
        return None if busy else self._active_at

    # --- the mailbox

    def post(self, envelope: Envelope, within: float = inf, reserve: int = 0) -> None:
        """Queue a message, and make sure that a task handles it.

        The message may wait for `within` seconds. There is room for `reserve` messages beyond the
        mailbox's limit. Raises `Overloaded` when there is no room or the service is stopping,
        `Degraded` while the partner is degraded, `NotOwned` when the partner was given up, and
        `RuntimeError` when this cell was closed after its actor had ended.
        """
        if self.retired:
            if self._given_up is not None:
                raise NotOwned(self.name)
            raise RuntimeError(f"{self.name} was closed; look the actor up again for each message")
        if self.system.stopping:
            raise Overloaded("stopping")
        now = self.system.now()
        if self.restarts.degraded(now):
            raise Degraded("the partner is degraded")
        if len(self._queue) >= self._limit + reserve:
            self._make_room(now, self._limit + reserve)
        if not self._running:
            self.system.enter(self, self._run)
            self._running = True
        envelope.deadline = now + within
        self._queue.append(envelope)
        self._active_at = now
        self._closing = False
        self._wake()

    def _make_room(self, now: float, limit: int) -> None:
        self._drop_expired(now)
        if len(self._queue) >= limit:
            self.system.on_event("mailbox_full")
            raise Overloaded("mailbox full")

    def _drop_expired(self, now: float) -> None:
        if any(envelope.deadline <= now for envelope in self._queue):
            queue, self._queue = self._queue, []
            for envelope in queue:
                if envelope.deadline <= now:
                    envelope.fail(Overloaded("deadline"))
                else:
                    self._queue.append(envelope)

    def _refuse_queued(self) -> None:
        if self._given_up is not None:
            while self._queue:
                self._queue.pop(0).fail(NotOwned(self.name))
        degraded = not self.system.stopping and self.restarts.degraded(trio.current_time())
        while self._queue:
            self._queue.pop(0).fail(
                Degraded("the partner is degraded") if degraded else Overloaded("stopping")
            )

    # --- for the actor, while it handles a message

    @property
    def holds_messages(self) -> bool:
        """Whether a message waits."""
        return bool(self._queue)

    def take_along(self, wanted: Callable[[Message], bool]) -> Envelope | None:
        """Remove the next queued message and return it, if it is an ask and `wanted` accepts it.

        The actor must answer it, keep it for later, or put it back. If the actor breaks first, the
        ask fails like the message that the actor broke on.
        """
        if not self._queue:
            return None
        now = self.system.now()
        while self._queue and self._queue[0].deadline <= now:
            self._queue.pop(0).fail(Overloaded("deadline"))
        if not self._queue or not self._queue[0].is_ask or not wanted(self._queue[0].message):
            return None
        envelope = self._queue.pop(0)
        envelope.keep_in(self._deferred)
        return envelope

    def put_back(self, envelopes: Iterable[Envelope]) -> None:
        """Undo `take_along`: put asks at the front of the queue again, in their order."""
        kept = [envelope for envelope in envelopes if not envelope.answered]
        for envelope in kept:
            envelope.let_go()
        self._queue[:0] = kept
        if self.system.stopping:
            self._refuse_queued()

    # --- from outside

    def tend(self, now: float) -> None:
        """Refuse queued messages past their deadline; close the actor if it has long been idle."""
        self._drop_expired(now)
        idle = self.idle_since
        if idle is not None and now - idle >= IDLE_CLOSE_S:
            self._closing = True
            self._wake()

    def close_soon(self) -> None:
        """End the task once the mailbox is empty. A later message makes the actor load again."""
        self._closing = True

    def stop(self) -> None:
        """Refuse queued messages; end the task after the current one, or after `STOP_GRACE_S`."""
        self._closing = True
        self._refuse_queued()
        self._work_until = min(self._work_until, trio.current_time() + STOP_GRACE_S)
        self._work.deadline = self._work_until
        self._wake()

    def give_up(self, *, at_once: bool) -> trio.Event:
        """Refuse all messages from now on; return the event that is set once the task has ended.

        The task ends after its current message, after `STOP_GRACE_S` at the latest. With `at_once`
        the task ends immediately, in the middle of its message.
        """
        ended = self._given_up = trio.Event() if self._given_up is None else self._given_up
        self.retired = True
        if at_once:
            self._work_until = float("-inf")
            self._work.cancel()
        self.stop()
        if not self._running:
            ended.set()
        return ended

    # --- the task

    async def _run(self) -> None:
        try:
            # This scope is cancelled `STOP_GRACE_S` after the stop began, or immediately by
            # `give_up(at_once=True)`. The whole task has one scope, because a scope for each
            # message would take longer than the message itself. It also shields the task while the
            # task waits for a message: lifting the shield for each wait would add a tenth to the
            # time of each message. When the system is cancelled, it calls `stop`, which ends the
            # task.
            with trio.CancelScope(shield=True, deadline=self._work_until) as self._work:
                while await self._live():
                    pass
        finally:
            self._running = False
            self._abandon_deferred(Interrupted)
            self._refuse_queued()
            self.system.leave(self)
            if self._given_up is not None:
                self._given_up.set()

    async def _live(self) -> bool:
        """Run one life of the actor, beginning with `load`; return whether to begin another."""
        if self._closing and not self._queue:
            return False
        try:
            actor = self._make(self)
            await actor.load()
        except Exception as error:
            # The message at the head of the queue fails; the next one tries to load again. If the
            # database cannot be reached, the crash is not counted: it is no fault of this partner,
            # and a cool-down could last longer than the outage.
            of_all = isinstance(error, ReadFailed) and error.of_all
            self._broke(error, self._queue.pop(0) if self._queue else None, counts=not of_all)
            return bool(self._queue) and not self.restarts.degraded(trio.current_time())
        task = trio.lowlevel.current_task()
        while True:
            while not self._queue:
                if self._closing:
                    return False
                # Wait for a message, or for `stop`, which the system also calls when it is
                # cancelled.
                self._parked = task
                await trio.lowlevel.wait_task_rescheduled(self._unpark)
            envelope = self._queue.pop(0)
            if envelope.deadline <= self.system.now():
                envelope.fail(Overloaded("deadline"))
                continue
            try:
                answer = await actor.receive(envelope.message, envelope)
            except Exception as error:
                if self._refused(error, envelope):
                    continue
                self._broke(error, envelope, counts=not isinstance(error, _NOT_ITS_FAULT))
                return not self.restarts.degraded(trio.current_time())
            except BaseException:
                envelope.fail(Interrupted("stopped in the middle"))
                raise
            if answer is LATER:
                envelope.keep_in(self._deferred)
            else:
                envelope.answer(answer)
            del answer  # an actor that waits keeps no answer in memory

    def _wake(self) -> None:
        task, self._parked = self._parked, None
        if task is not None:
            trio.lowlevel.reschedule(task)

    def _unpark(self, _: Any) -> trio.lowlevel.Abort:
        self._parked = None
        return trio.lowlevel.Abort.SUCCEEDED

    # --- failures

    def _refused(self, error: Exception, envelope: Envelope) -> bool:
        """Fail an ask whose error left the state intact, and return True; otherwise return False.

        The state is intact if there was no room, or if a write of the ask failed. Earlier commits
        of the same ask stay in the rows. Any other error, and any error of an event, ends this life
        of the actor. An event is then lost; only the rows show the change that it reported.
        """
        if not envelope.is_ask:
            return False
        later = isinstance(error, Interrupted)  # `already_written` has caught the cause
        cause = error.__cause__ if later else error
        if isinstance(cause, Overloaded | WriterFull):
            envelope.fail(error if later else Overloaded(str(error)))
        elif isinstance(cause, WriteFailed):
            self.system.report(
                "store_outage", error, actor=self.name, message=type(envelope.message).__name__
            )
            envelope.fail(error if later else Interrupted("the write failed"))
        else:
            return False
        return True

    def _broke(self, error: Exception, envelope: Envelope | None, *, counts: bool) -> None:
        """Fail the message and all deferred asks. `counts`: also record a crash."""
        outage = isinstance(error, StoreOutage | Interrupted)
        kind = Interrupted if outage else Crashed
        message = type(envelope.message).__name__ if envelope else None
        self.system.report(
            "store_outage" if outage else "actor_broke", error, actor=self.name, message=message
        )
        if envelope is not None:
            noun = error.noun if isinstance(error, ReadFailed | Crashed) else None
            envelope.fail(kind(type(error).__name__, noun))
        self._abandon_deferred(kind)
        if counts and self.restarts.crashed(trio.current_time()):
            self.system.report(
                "partner_degraded", actor=self.name, seconds=self.restarts.limit.cool_down_s
            )

    def _abandon_deferred(self, kind: type[Crashed]) -> None:
        while self._deferred:
            next(iter(self._deferred)).fail(kind("the actor ended before it could answer"))
