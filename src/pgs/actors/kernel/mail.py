"""What actors send each other: messages in envelopes. Also the errors with which an ask fails."""

from __future__ import annotations

from math import inf
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import trio
from outcome import Error, Value

R = TypeVar("R", covariant=True)


class Message(msgspec.Struct, frozen=True):
    """A message to an actor. It has no reply unless it is a `Command`.

    A message that is sent with `tell` is an event: nobody waits for a reply to it.
    """


class Command(Message, Generic[R], frozen=True):
    """A message that an actor replies to. `R` is the type of the reply."""


class Overloaded(Exception):
    """The message was refused and nothing was done.

    The mailbox, the writer or a table's list of held commands was full, the deadline passed while
    the message waited, or the service is stopping. If the handler makes several commits, it may
    have made the first ones: see `Actor`.
    """


class NotOwned(Overloaded):
    """The message was refused and nothing was done: this node does not own the partner now."""


class Crashed(Exception):
    """The actor broke on this message, and the caller cannot know what was done.

    `noun` names the rows whose reading failed, if that was the cause.
    """

    def __init__(self, why: str, noun: str | None = None) -> None:
        super().__init__(why)
        self.noun = noun


class Interrupted(Crashed):
    """The work on the message ended in the middle, and no bug of the actor was the cause.

    The database failed, the session with it ended, the process stops, or a step took too long. As
    with `Crashed`, the caller cannot know what was done.
    """


class Degraded(Crashed):
    """Nothing was done: the partner is degraded, because its actors broke too often."""


class Later:
    """Returned by a handler that will answer its envelope itself, later."""


LATER = Later()


class Envelope:
    """A message, with the task that waits for its answer.

    `deadline`: until when it may wait in a mailbox, in trio's time; the mailbox sets it.
    """

    __slots__ = ("_kept_in", "_result", "_task", "answered", "deadline", "is_ask", "message")

    def __init__(self, message: Message, *, is_ask: bool = True) -> None:
        self.message = message
        self.deadline = inf
        self.is_ask = is_ask
        self.answered = not is_ask  # nobody waits for an answer to an event
        self._result: Value[Any] | Error | None = None
        self._task: trio.lowlevel.Task | None = None
        self._kept_in: set[Envelope] | None = None

    def answer(self, value: object) -> None:
        """Give the answer. Only the first one counts; the asker may already have left."""
        self._resolve(Value(value))

    def fail(self, error: Exception) -> None:
        """Make the asker's `ask` raise `error`, unless it was answered before.

        Never give the same exception object to two askers.
        """
        self._resolve(Error(error))

    def _resolve(self, result: Value[Any] | Error) -> None:
        if self.answered:
            return
        self.answered = True
        if self._kept_in is not None:
            self._kept_in.discard(self)
        if self._task is None:
            self._result = result
        else:
            trio.lowlevel.reschedule(self._task, result)
            self._task = None  # an idle actor keeps its last envelope, but not the asker's task

    def keep_in(self, deferred: set[Envelope]) -> None:
        """Keep this envelope in `deferred` until it is answered."""
        if not self.answered:
            self._kept_in = deferred
            deferred.add(self)

    def let_go(self) -> None:
        """Undo `keep_in`."""
        if self._kept_in is not None:
            self._kept_in.discard(self)
            self._kept_in = None

    async def wait(self) -> Any:
        """Return the answer. Cancelling the caller does not cancel the message."""
        if self._result is not None:
            await trio.lowlevel.checkpoint()
            return self._result.unwrap()
        self._task = trio.lowlevel.current_task()
        return await trio.lowlevel.wait_task_rescheduled(self._leave)

    def _leave(self, _: Any) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED


class Actor(Protocol):
    """The owner of some state. `receive` handles one message at a time; `load` reads rows.

    If `receive` raises `Overloaded`, `WriterFull` or `WriteFailed` on an ask, nothing was done and
    the state is intact: only that ask fails. But a handler that makes several commits may have made
    the first ones. Their rows stay, and the state must be intact all the same. Any other exception,
    and any exception on an event, ends this life of the actor.
    """

    async def load(self) -> None:
        """Read the state from rows."""
        ...

    async def receive(self, message: Any, envelope: Envelope) -> object:
        """Handle a message; return its answer, or return `LATER` and answer the envelope later."""
        ...
