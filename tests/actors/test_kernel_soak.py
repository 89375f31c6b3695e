"""Asks, events, crashes, departures and a stop in random order.

Every ask ends exactly once, and its answer is true.
"""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Literal

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.cell import Cell
from pgs.actors.kernel.mail import LATER, Command, Crashed, Envelope, Message, Overloaded
from pgs.actors.kernel.ref import Ref
from pgs.actors.kernel.restarts import RestartCounter
from pgs.actors.kernel.system import System
from pgs.storage.transactions import OutcomeUnknown, WriteFailed, WriterFull
from tests.virtual import seed_scheduler, tend

Plan = Literal[
    "write",
    "break before",
    "break after",
    "unknown",
    "full",
    "failed",
    "later",
    "never",
    "slow",
    "mute",
]

_WEIGHTS: dict[Plan, int] = {
    "write": 12,
    "later": 3,
    "break before": 1,
    "break after": 1,
    "unknown": 1,
    "full": 1,
    "failed": 1,
    "never": 1,
    "slow": 1,
    "mute": 1,
}
ASKS = 600


class Write(Command[int], frozen=True):
    """Commit an entry by its number. The answer is the number."""

    number: int
    plan: Plan


class Note(Message, frozen=True):
    """Commit an entry that nobody waits for."""

    number: int
    plan: Plan


class Ready(Message, frozen=True):
    """A child has finished: answer its ask."""

    number: int


class EntryActor:
    """An actor that commits entries, and breaks as each plan says. `entries` are its rows."""

    def __init__(self, system: System, ref: Ref, entries: list[int], random: Random) -> None:
        self._system = system
        self._ref = ref
        self._entries = entries
        self._random = random
        self._known: list[int] = []
        self._owed: dict[int, Envelope] = {}

    async def load(self) -> None:
        self._known = list(self._entries)

    async def receive(self, message: Write | Note | Ready, envelope: Envelope) -> object:
        assert self._known == self._entries, "the state differs from the rows"
        if isinstance(message, Ready):
            owed = self._owed.pop(message.number, None)
            if owed is not None:
                owed.answer(message.number)
            return None
        number, plan = message.number, message.plan
        if plan == "break before":
            raise ZeroDivisionError
        if plan == "full":
            raise WriterFull
        if plan == "failed":
            raise WriteFailed
        await trio.sleep(self._random.choice([0.0, 0.01, 2.0 if plan == "slow" else 0.05]))
        self._entries.append(number)
        if plan == "unknown":
            raise OutcomeUnknown
        if plan == "break after":
            raise ZeroDivisionError
        self._known.append(number)
        if plan in ("later", "never"):
            self._owed[number] = envelope
            if plan == "later":
                self._system.spawn(self._child, number)
            return LATER
        if plan == "mute":
            envelope.answer(number)
            return "a second answer"
        return number

    async def _child(self, number: int) -> None:
        await trio.sleep(self._random.choice([0.0, 0.1, 1.0]))
        self._ref.tell(Ready(number))


class Soak:
    """The messages of one run: to whom each was sent, who left, and how the asks ended."""

    def __init__(self, random: Random, rows: dict[str, list[int]], cells: dict[str, Cell]) -> None:
        self.rows = rows  # by actor
        self.sent: dict[int, str] = {}  # the actor of each message, by the message's number
        self.left: set[int] = set()  # the numbers of the messages whose answer nobody waits for
        self.ends: dict[int, list[object]] = {}  # the answers and errors of each ask
        self._random = random
        self._cells = cells

    async def send(self, number: int, askers: trio.Nursery) -> None:
        """Send a message of a random plan to a random actor, and pause now and then."""
        random = self._random
        name = random.choice(list(self.rows))
        plan = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        self.sent[number] = name
        if random.random() < 0.15:
            self.left.add(number)  # nobody waits for an event
            self._cells[name].ref.tell(Note(number, plan))
        else:
            patience_s = random.choice([0.005, 3.0, float("inf"), float("inf")])
            askers.start_soon(self._ask, number, name, plan, patience_s)
        if random.random() < 0.5:
            await trio.sleep(random.choice([0.0, 0.01, 0.3]))
        if random.random() < 0.005:
            await trio.sleep(random.choice([31.0, 400.0]))  # a cool-down, an idle close

    async def _ask(self, number: int, name: str, plan: Plan, patience_s: float) -> None:
        self.ends[number] = []
        with trio.CancelScope(shield=True), trio.move_on_after(patience_s) as scope:
            try:
                self.ends[number].append(
                    await self._cells[name].ref.ask(
                        Write(number, plan), within=self._random.choice([0.1, 1.0, 5.0])
                    )
                )
            except (Overloaded, Crashed) as error:
                self.ends[number].append(error)
        if scope.cancelled_caught:
            self.left.add(number)

    def check(self) -> None:
        """Check that every message was handled at most once, and that every answer is true."""
        committed = Counter(number for entries in self.rows.values() for number in entries)
        assert set(committed.values()) <= {1}, "a message was handled twice"
        assert all(number in self.rows[self.sent[number]] for number in committed)
        kinds: Counter[str] = Counter()
        for number, results in self.ends.items():
            if number in self.left:
                assert results == []
                kinds["left"] += 1
                continue
            (result,) = results
            kinds[type(result).__name__] += 1
            if isinstance(result, Overloaded):
                assert number not in committed, "an ask was refused, but its entry was committed"
            elif not isinstance(result, Crashed):
                assert result == number
                assert committed[number] == 1, "an ask was answered, but its entry is not there"
        for kind in ("int", "Overloaded", "Crashed", "Degraded", "left"):
            assert kinds[kind] > 0, f"the soak missed a case: {kinds}"


@pytest.mark.parametrize("seed", range(8))
async def test_every_ask_ends_exactly_once_and_its_answer_tells_the_truth(
    autojump_clock: MockClock, seed: int
) -> None:
    seed_scheduler(seed)
    random = Random(seed)
    rows: dict[str, list[int]] = {
        f"{partner}/{actor}": [] for partner in range(3) for actor in range(2)
    }
    async with trio.open_nursery() as nursery:
        system = System(nursery)
        nursery.start_soon(system.refuse_when_cancelled)
        nursery.start_soon(tend, system)
        counters = [RestartCounter() for _ in range(3)]
        cells = {
            name: Cell(
                name, system, counters[int(name[0])], _maker(system, rows[name], random), limit=8
            )
            for name in rows
        }
        soak = Soak(random, rows, cells)
        async with trio.open_nursery() as askers:
            for number in range(ASKS):
                await soak.send(number, askers)
                if number == ASKS * 9 // 10:
                    askers.start_soon(system.stop)
            # Asks that are still open are answered when the actors end.
    await wait_all_tasks_blocked()
    soak.check()
    assert system.cells == set()


def _maker(system: System, entries: list[int], random: Random) -> Callable[[Cell], EntryActor]:
    return lambda cell: EntryActor(system, cell.ref, entries, random)
