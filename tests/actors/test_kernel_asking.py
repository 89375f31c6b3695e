"""The kernel handles one message at a time and answers every ask.

An answer may come later, and a message is carried through when its asker has gone.
"""

import gc
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from weakref import ref

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.cell import Cell
from pgs.actors.kernel.mail import Command, Crashed, Envelope, Message, Overloaded
from pgs.actors.kernel.restarts import RestartCounter
from tests.actors.counter_cell import Add, CounterCell, Defer, Do, Resolve, Tell, raises
from tests.virtual import actor_system


async def test_an_ask_returns_the_actors_answer(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        assert await counter.cell.ref.ask(Add(2)) == 2
        assert await counter.cell.ref.ask(Add(3)) == 5
        assert counter.rows.loads == 1


async def test_messages_are_handled_one_at_a_time_in_their_order(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter, seen = CounterCell(system), []

        def note(number: int) -> Callable[[], Awaitable[object]]:
            async def call() -> object:
                seen.append(number)
                await trio.sleep(0.1)
                seen.append(number)
                return None

            return call

        for number in range(3):
            assert counter.cell.ref.tell(Tell(note(number)))
        await trio.sleep(1)
        assert seen == [0, 0, 1, 1, 2, 2]


async def test_an_asker_who_leaves_while_queued_stops_no_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        release = await counter.hold()
        with trio.move_on_after(0.5) as scope:
            await counter.cell.ref.ask(Add())
        assert scope.cancelled_caught
        assert counter.rows.total == 0
        release.set()
        await trio.sleep(0.1)
        assert counter.rows.total == 1


async def test_an_asker_who_leaves_during_the_commit_stops_no_message(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.rows.commit_s = 1
        with trio.move_on_after(0.5) as scope:
            await counter.cell.ref.ask(Add())
        assert scope.cancelled_caught
        await trio.sleep(1)
        assert counter.rows.total == 1
        assert await counter.cell.ref.ask(Add()) == 2


async def test_an_ask_waits_past_its_deadline_if_the_actor_has_begun_with_the_message(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.rows.commit_s = 60
        assert await counter.cell.ref.ask(Add()) == 1
        assert trio.current_time() == 60


async def test_the_first_answer_counts_and_no_other(autojump_clock: MockClock) -> None:
    class Eager:
        async def load(self) -> None: ...

        async def receive(self, message: Message, envelope: Envelope) -> object:
            envelope.answer("first")
            envelope.answer("second")
            envelope.fail(ValueError())
            if message == Add(2):
                raise ZeroDivisionError
            return "third"

    async with actor_system() as system:
        cell = Cell("eager", system, RestartCounter(), lambda _: Eager())
        for amount in (1, 2, 1):
            answer: object = await cell.ref.ask(Add(amount))
            assert answer == "first"


async def test_an_envelope_keeps_an_answer_that_comes_before_the_asker_waits() -> None:
    envelope = Envelope(Add())
    envelope.answer(7)
    envelope.answer(8)
    assert await envelope.wait() == 7


async def test_an_actor_sees_nothing_of_its_senders_context(
    autojump_clock: MockClock,
) -> None:
    request = ContextVar("request", default="none")

    async def read() -> object:
        return request.get()

    async with actor_system() as system:
        counter = CounterCell(system)
        request.set("a whole request")
        assert await counter.cell.ref.ask(Do(read)) == "none"


async def test_an_idle_actor_does_not_keep_its_last_askers_task(autojump_clock: MockClock) -> None:
    """With the task, it would keep the context variables of the request."""
    async with actor_system() as system:
        counter, askers = CounterCell(system), list[ref[trio.lowlevel.Task]]()

        async def ask(command: Command[object]) -> None:
            askers.append(ref(trio.lowlevel.current_task()))
            with suppress(Overloaded):
                await counter.cell.ref.ask(command)

        for command in (Add(), Do(raises(Overloaded("nothing was done")))):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask, command)
            await wait_all_tasks_blocked()
            gc.collect()
            assert askers.pop()() is None


async def test_an_ask_can_be_answered_by_a_later_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        first, second = counter.later(Defer("a")), counter.later(Defer("b"))
        await trio.sleep(60)
        assert await counter.cell.ref.ask(Add()) == 1, "others are served meanwhile"
        counter.cell.ref.tell(Resolve("b", "yes"))
        await wait_all_tasks_blocked()
        assert (first.at, second.result) == (None, "yes")
        counter.cell.ref.tell(Resolve("a", "no"))
        await wait_all_tasks_blocked()
        assert first.result == "no"


async def test_an_ask_can_be_answered_by_a_child_that_reports_back(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)

        async def child() -> None:
            await trio.sleep(10)
            counter.cell.ref.tell(Resolve("a", "done"))

        system.spawn(child)
        assert await counter.cell.ref.ask(Defer("a")) == "done"
        assert trio.current_time() == 10


async def test_a_crash_answers_every_ask_that_is_still_open(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        waiting = [counter.later(Defer(key)) for key in "abc"]
        await wait_all_tasks_blocked()
        await counter.crash()
        await wait_all_tasks_blocked()
        assert [type(asked.result) for asked in waiting] == [Crashed] * 3


async def test_a_later_answer_to_someone_who_has_left_is_no_error(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        with trio.move_on_after(1):
            await counter.cell.ref.ask(Defer("a"))
        counter.cell.ref.tell(Resolve("a", "too late"))
        await wait_all_tasks_blocked()
        assert await counter.cell.ref.ask(Add()) == 1
        assert counter.rows.loads == 1
