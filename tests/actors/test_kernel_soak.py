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
from pgs.actors.kernel.mail import (
    LATER,
    Command,
    Crashed,
    Envelope,
    Message,
    Overloaded,
)
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
    """Commit an entry by its number; answers the number."""

    number: int
    plan: Plan


class Note(Message, frozen=True):
    """Commit an entry that nobody waits for."""

    number: int
    plan: Plan


class Ready(Message, frozen=True):
    """A child has finished: answer its ask."""

    number: int


class Book:
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


@pytest.mark.parametrize("seed", range(8))
async def test_every_ask_ends_exactly_once_and_its_answer_tells_the_truth(
    autojump_clock: MockClock, seed: int
) -> None:
    seed_scheduler(seed)
    random = Random(seed)
    rows: dict[str, list[int]] = {
        f"{partner}/{actor}": [] for partner in range(3) for actor in range(2)
    }
    sent: dict[int, str] = {}
    left: set[int] = set()
    ends: dict[int, list[object]] = {}
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

        async def ask(number: int, name: str, plan: Plan, patience_s: float) -> None:
            ends[number] = []
            with trio.CancelScope(shield=True), trio.move_on_after(patience_s) as scope:
                try:
                    ends[number].append(
                        await cells[name].ref.ask(
                            Write(number, plan), within=random.choice([0.1, 1.0, 5.0])
                        )
                    )
                except (Overloaded, Crashed) as error:
                    ends[number].append(error)
            if scope.cancelled_caught:
                left.add(number)

        async with trio.open_nursery() as askers:
            for number in range(ASKS):
                name, plan = (
                    random.choice(list(rows)),
                    random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0],
                )
                sent[number] = name
                if random.random() < 0.15:
                    left.add(number)  # nobody waits for an event
                    cells[name].ref.tell(Note(number, plan))
                else:
                    askers.start_soon(
                        ask,
                        number,
                        name,
                        plan,
                        random.choice([0.005, 3.0, float("inf"), float("inf")]),
                    )
                if random.random() < 0.5:
                    await trio.sleep(random.choice([0.0, 0.01, 0.3]))
                if random.random() < 0.005:
                    await trio.sleep(random.choice([31.0, 400.0]))  # a cool-down, an idle close
                if number == ASKS * 9 // 10:
                    askers.start_soon(system.stop)
            # Asks that are still open are answered when the actors end.
    await wait_all_tasks_blocked()
    committed = Counter(number for entries in rows.values() for number in entries)
    assert set(committed.values()) <= {1}, "a message was handled twice"
    assert all(number in rows[sent[number]] for number in committed)
    kinds: Counter[str] = Counter()
    for number, results in ends.items():
        if number in left:
            assert results == []
            kinds["left"] += 1
            continue
        (result,) = results
        kinds[type(result).__name__] += 1
        if isinstance(result, Overloaded):
            assert number not in committed, "it was committed although nothing was to be done"
        elif not isinstance(result, Crashed):
            assert result == number
            assert committed[number] == 1, "the answer said committed, but it was not"
    assert system.cells == set()
    assert min(kinds[kind] for kind in ("int", "Overloaded", "Crashed", "Degraded", "left")) > 0, (
        f"the soak missed a case: {kinds}"
    )


def _maker(system: System, entries: list[int], random: Random) -> Callable[[Cell], Book]:
    return lambda cell: Book(system, cell.ref, entries, random)
