"""The kernel: asks, events and the actor while rows cannot be read or written."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.mail import Crashed, Degraded, Interrupted, Overloaded
from pgs.actors.kernel.written import already_written
from pgs.storage.transactions import (
    OutcomeUnknown,
    ReadFailed,
    StoreOutage,
    WriteFailed,
    WriterFull,
)
from tests.actors.counter_cell import Add, CounterCell, Defer, Do, Resolve, Tell, error_name, raises
from tests.virtual import actor_system


async def test_a_load_that_fails_is_tried_once_for_each_message_until_the_partner_is_degraded(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.rows.load_error = ReadFailed("seats.find_head", OSError())
        with pytest.raises(Crashed) as crashed:
            await counter.cell.ref.ask(Add())
        assert crashed.value.noun == "seats"
        await trio.sleep(10)
        assert counter.rows.loads == 1, "the actor was loaded without a new message"
        queued = [counter.later(Add()) for _ in range(6)]
        await wait_all_tasks_blocked()
        assert counter.rows.loads == 4
        assert [type(asked.result) for asked in queued] == [Interrupted] * 3 + [Degraded] * 3
        counter.rows.load_error = None
        await trio.sleep(30)
        assert await counter.cell.ref.ask(Add()) == 1


async def test_loads_that_fail_because_the_database_is_away_degrade_nobody(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.rows.load_error = ReadFailed("seats.find_head", StoreOutage("nobody there"))
        queued = [counter.later(Add()) for _ in range(10)]
        await wait_all_tasks_blocked()
        assert [type(asked.result) for asked in queued] == [Interrupted] * 10
        counter.rows.load_error = None
        assert await counter.cell.ref.ask(Add()) == 1


async def test_a_load_that_fails_after_a_crash_waits_for_the_next_message(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        await counter.cell.ref.ask(Add())
        counter.rows.load_error = ZeroDivisionError()
        await counter.crash()
        await trio.sleep(10)
        assert counter.rows.loads == 2
        counter.rows.load_error = None
        assert await counter.cell.ref.ask(Add()) == 2


@pytest.mark.parametrize(
    ("error", "answer"),
    [(WriterFull(), Overloaded), (Overloaded(), Overloaded), (WriteFailed(), Crashed)],
    ids=error_name,
)
async def test_a_write_that_was_not_done_fails_its_ask_and_keeps_the_state(
    autojump_clock: MockClock, error: Exception, answer: type[Exception]
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        waiting = counter.later(Defer("a"))
        for _ in range(10):
            with pytest.raises(answer):
                await counter.cell.ref.ask(Do(raises(error)))
        assert counter.rows.loads == 1
        counter.cell.ref.tell(Resolve("a", "still there"))
        await wait_all_tasks_blocked()
        assert waiting.result == "still there"


@pytest.mark.parametrize(
    ("error", "reported"),
    [(WriterFull(), []), (Overloaded(), []), (WriteFailed(), ["store_outage"] * 10)],
    ids=error_name,
)
async def test_a_later_write_of_an_ask_that_was_not_done_keeps_the_state(
    autojump_clock: MockClock, error: Exception, reported: list[str]
) -> None:
    events: list[str] = []

    async def write_twice() -> object:
        with already_written():
            raise error

    async with actor_system(events.append) as system:
        counter = CounterCell(system)
        for _ in range(10):
            with pytest.raises(Interrupted) as interrupted:
                await counter.cell.ref.ask(Do(write_twice))
            assert interrupted.value.__cause__ is error
        assert counter.rows.loads == 1
    assert events == reported


@pytest.mark.parametrize(
    "error", [WriterFull(), WriteFailed(), OutcomeUnknown(), Overloaded()], ids=error_name
)
async def test_an_event_that_could_not_be_written_starts_the_actor_again_from_rows(
    autojump_clock: MockClock, error: Exception
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        waiting = counter.later(Defer("a"))
        await wait_all_tasks_blocked()
        for _ in range(10):
            counter.cell.ref.tell(Tell(raises(error)))
        await wait_all_tasks_blocked()
        assert isinstance(waiting.result, Crashed), (
            "the actor that owed the answer has started again"
        )
        assert counter.rows.loads == 11
        assert await counter.cell.ref.ask(Add()) == 1, "an outage degrades nobody"


@pytest.mark.parametrize(
    "error", [OutcomeUnknown(), ReadFailed("seats.find_seat", OSError())], ids=error_name
)
async def test_an_outage_makes_the_actor_start_again_from_rows_and_degrades_nobody(
    autojump_clock: MockClock, error: Exception
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        for _ in range(10):
            with pytest.raises(Crashed) as crashed:
                await counter.cell.ref.ask(Do(raises(error)))
            assert crashed.value.noun == getattr(error, "noun", None)
        assert counter.rows.loads == 11
        assert await counter.cell.ref.ask(Add()) == 1


async def test_a_crash_counts_for_the_actor_that_broke_and_not_for_its_asker(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        above, below = CounterCell(system), CounterCell(system)

        async def ask_below() -> object:
            return await below.cell.ref.ask(Do(raises(ZeroDivisionError())))

        for _ in range(4):
            with pytest.raises(Crashed):
                await above.cell.ref.ask(Do(ask_below))
        assert below.restarts.degraded(trio.current_time())
        assert not above.restarts.degraded(trio.current_time())


async def test_an_actor_whose_ask_was_interrupted_has_met_an_outage_and_no_bug(
    autojump_clock: MockClock,
) -> None:
    events: list[str] = []
    async with actor_system(events.append) as system:
        above, below = CounterCell(system), CounterCell(system)

        async def ask_below() -> object:
            return await below.cell.ref.ask(Do(raises(WriteFailed())))

        with pytest.raises(Interrupted):
            await above.cell.ref.ask(Do(ask_below))
        assert set(events) == {"store_outage"}
