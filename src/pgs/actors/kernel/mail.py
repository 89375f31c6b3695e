"""What passes between actors: messages, envelopes, and how an ask can fail."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

import msgspec
import trio
from outcome import Error, Value

R = TypeVar("R", covariant=True)


class Message(msgspec.Struct, frozen=True):
    """What an actor is told: it has no answer."""


class Command(Message, Generic[R], frozen=True):
    """What an actor is asked: `R` is the type of its answer."""


class Overloaded(Exception):
    """Nothing was done: the mailbox or the writer was full, the deadline passed in the queue, or the service is stopping."""


class Crashed(Exception):
    """The actor broke on this message; what it did is unknown to the caller. `noun` says of what a read failed, where that was why."""

    def __init__(self, why: str, noun: str | None = None) -> None:
        super().__init__(why)
        self.noun = noun


class Degraded(Crashed):
    """The partner rests after its actors broke too often. Nothing was done."""


class Later:
    """The answer of a handler that will answer its envelope by itself."""


LATER = Later()


class Envelope:
    """One message on its way, with whoever waits for its answer."""

    __slots__ = ("_kept_in", "_result", "_task", "answered", "deadline", "is_ask", "message")

    def __init__(
        self, message: Message, deadline: float = float("inf"), *, is_ask: bool = True
    ) -> None:
        self.message = message
        self.deadline = deadline
        self.is_ask = is_ask
        self.answered = not is_ask  # nobody waits for what was told
        self._result: Value[Any] | Error | None = None
        self._task: trio.lowlevel.Task | None = None
        self._kept_in: set[Envelope] | None = None

    def answer(self, value: object) -> None:
        """Give the answer. Only the first one counts; nobody waiting is no error."""
        self._settle(Value(value))

    def fail(self, error: Exception) -> None:
        """Let the asker's `ask` raise `error`, which must be its own, unless it was answered before."""
        self._settle(Error(error))

    def _settle(self, result: Value[Any] | Error) -> None:
        if self.answered:
            return
        self.answered = True
        if self._kept_in is not None:
            self._kept_in.discard(self)
        task, self._task = self._task, None
        if task is None:
            self._result = result
        else:
            trio.lowlevel.reschedule(task, result)

    def keep_in(self, deferred: set[Envelope]) -> None:
        """Stay in a set until answered."""
        if not self.answered:
            self._kept_in = deferred
            deferred.add(self)

    async def wait(self) -> Any:
        """Return the answer. The caller may be cancelled; the message goes its way all the same."""
        if self._result is not None:
            await trio.lowlevel.checkpoint()
            return self._result.unwrap()
        self._task = trio.lowlevel.current_task()

        def abort(_: Any) -> trio.lowlevel.Abort:
            self._task = None
            return trio.lowlevel.Abort.SUCCEEDED

        return await trio.lowlevel.wait_task_rescheduled(abort)


class Actor(Protocol):
    """State with one owner. `receive` handles one message at a time; `load` rebuilds the state from rows.

    What `receive` raises decides what follows. `Overloaded`, `WriterFull` and `WriteFailed` on an ask say that nothing was done and that
    the state is whole: they fail that ask alone. Anything else ends this life of the actor.
    """

    async def load(self) -> None:
        """Read the state from rows."""
        ...

    async def receive(self, message: Any, envelope: Envelope) -> object:
        """Handle a message; return its answer, or `LATER` and answer the envelope in time."""
        ...
