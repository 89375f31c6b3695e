"""An actor that tests drive by hand: a counter on rows, and its cell with short ways to ask it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pgs.actors.kernel.cell import MAILBOX_LIMIT, Cell
from pgs.actors.kernel.mail import LATER, Actor, Command, Crashed, Envelope, Message
from pgs.actors.kernel.ref import ASK_DEADLINE_S
from pgs.actors.kernel.restarts import RestartCounter
from pgs.actors.kernel.system import System


class Add(Command[int], frozen=True):
    """Add to the total. The answer is the new total."""

    amount: int = 1


class Do(Command[object], frozen=True):
    """Call something inside the actor. The answer is what it returns."""

    call: Callable[[], Awaitable[object]]


class Defer(Command[str], frozen=True):
    """An ask that stays open until a `Resolve` of its key answers it."""

    key: str


class Resolve(Message, frozen=True):
    """Answer the ask that waits for a key."""

    key: str
    answer: str


class Tell(Message, frozen=True):
    """Call something inside the actor."""

    call: Callable[[], Awaitable[object]]


class Rows:
    """The rows of a counter."""

    def __init__(self) -> None:
        self.total = 0
        self.loads = 0
        self.load_error: Exception | None = None
        self.commit_s = 0.0


class Counter:
    """An actor with a total, which it reads from rows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._total = -1
        self._waiting: dict[str, Envelope] = {}

    async def load(self) -> None:
        self._rows.loads += 1
        if self._rows.load_error is not None:
            raise self._rows.load_error
        self._total = self._rows.total

    async def receive(self, message: Message, envelope: Envelope) -> object:
        match message:
            case Add(amount):
                await trio.sleep(self._rows.commit_s)
                self._rows.total += amount
                self._total += amount
                return self._total
            case Do(call) | Tell(call):
                self._total += 1000  # lost unless the state is kept
                result = await call()
                self._total -= 1000
                return result
            case Defer(key):
                self._waiting[key] = envelope
                return LATER
            case Resolve(key, answer):
                self._waiting.pop(key).answer(answer)
        return None


class Asked:
    """An ask under way, its outcome, and when it came."""

    def __init__(self) -> None:
        self.result: Any = None
        self.at: float | None = None


def raises(error: Exception) -> Callable[[], Awaitable[object]]:
    async def call() -> object:
        raise error

    return call


class CounterCell:
    """A cell with a counter, or with another actor, and short ways to ask it."""

    def __init__(
        self,
        system: System,
        restarts: RestartCounter | None = None,
        limit: int = MAILBOX_LIMIT,
        name: str = "counter",
        actor: Actor | None = None,
    ) -> None:
        self.rows = Rows()
        self.restarts = restarts or RestartCounter()
        self.cell = Cell(name, system, self.restarts, lambda _: actor or Counter(self.rows), limit)
        self._system = system

    def later(self, command: Command[Any], within: float = ASK_DEADLINE_S) -> Asked:
        """Put an ask into the mailbox now, and wait for its answer in a separate task."""
        asked, envelope = Asked(), Envelope(command)
        self.cell.post(envelope, within)

        async def wait() -> None:
            try:
                asked.result = await envelope.wait()
            except Exception as error:
                asked.result = error
            asked.at = trio.current_time()

        trio.lowlevel.spawn_system_task(wait)
        return asked

    async def crash(self) -> None:
        with pytest.raises(Crashed):
            await self.cell.ref.ask(Do(raises(ZeroDivisionError())))

    async def hold(self) -> trio.Event:
        """Make the actor busy until the event is set."""
        release = trio.Event()
        self.later(Do(release.wait))
        await wait_all_tasks_blocked()
        return release


def error_name(parameter: object) -> str:
    return parameter.__name__ if isinstance(parameter, type) else type(parameter).__name__
