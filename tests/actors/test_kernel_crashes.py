"""An actor that breaks starts again from rows; if it breaks too often, its partner is degraded."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.mail import Crashed, Degraded
from pgs.actors.kernel.restarts import RestartCounter
from tests.actors.counter_cell import Add, CounterCell, Do, Tell, raises
from tests.virtual import actor_system


async def test_a_crash_loses_only_its_message_and_the_next_message_finds_the_state_of_the_rows(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        assert await counter.cell.ref.ask(Add()) == 1
        release = await counter.hold()
        broken, next_one = counter.later(Do(raises(ZeroDivisionError()))), counter.later(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert isinstance(broken.result, Crashed)
        assert not isinstance(broken.result, Degraded)
        assert next_one.result == 2
        assert counter.rows.loads == 2


async def test_the_text_of_a_crash_holds_no_value_of_the_actor(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        with pytest.raises(Crashed) as crashed:
            await CounterCell(system).cell.ref.ask(Do(raises(ValueError("whsec_secret"))))
        assert str(crashed.value) == "ValueError"


async def test_a_partner_whose_actors_break_too_often_is_degraded_for_its_cool_down_to_the_second(
    autojump_clock: MockClock,
) -> None:
    events: list[str] = []
    async with actor_system(events.append) as system:
        counter = CounterCell(system)
        for _ in range(3):
            await counter.crash()
            await trio.sleep(1)
        assert await counter.cell.ref.ask(Add()) == 1, "three restarts are allowed"
        release = await counter.hold()
        broken, queued = counter.later(Do(raises(ZeroDivisionError()))), counter.later(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert isinstance(broken.result, Crashed)
        assert isinstance(queued.result, Degraded)
        assert events.count("partner_degraded") == 1
        loads, began = counter.rows.loads, trio.current_time()
        for seconds in (0.0, 15.0, 29.999):
            await trio.sleep_until(began + seconds)
            with pytest.raises(Degraded):
                await counter.cell.ref.ask(Add())
            assert not counter.cell.ref.tell(Tell(trio.lowlevel.checkpoint))
        assert counter.rows.loads == loads, "the actor was loaded during the cool-down"
        await trio.sleep_until(began + 30)
        assert await counter.cell.ref.ask(Add()) == 2
        for _ in range(3):
            await counter.crash()
        assert await counter.cell.ref.ask(Add()) == 3, "the count began afresh"


async def test_all_actors_of_a_degraded_partner_do_nothing_and_those_of_others_go_on(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        restarts = RestartCounter()
        counter, sibling, neighbour = (
            CounterCell(system, restarts),
            CounterCell(system, restarts),
            CounterCell(system),
        )
        await sibling.cell.ref.ask(Add())
        busy = sibling.later(Do(partial(trio.sleep, 1)))
        for _ in range(4):
            await counter.crash()
        with pytest.raises(Degraded):
            await sibling.cell.ref.ask(Add())
        assert await neighbour.cell.ref.ask(Add()) == 1
        await trio.sleep(2)
        assert busy.at is not None
        assert busy.result is None, "a message that was taken before was not carried through"


def test_crashes_further_apart_than_the_window_degrade_nobody() -> None:
    restarts = RestartCounter()
    assert not any(
        restarts.crashed(now) for now in (0.0, 1.0, 2.0, 30.0, 31.0, 32.0, 60.0, 61.0, 62.0)
    )
    assert not restarts.degraded(62.0)
    assert restarts.crashed(89.999)
    assert restarts.degraded(119.998)
    assert not restarts.degraded(119.999)


def test_crashes_during_the_cool_down_do_not_lengthen_it() -> None:
    restarts = RestartCounter()
    assert [restarts.crashed(0.0) for _ in range(4)] == [False, False, False, True]
    assert not any(restarts.crashed(29.0) for _ in range(10))
    assert not restarts.degraded(30.0)
    assert not restarts.crashed(30.0)


async def test_a_child_task_that_breaks_ends_nothing_else(autojump_clock: MockClock) -> None:
    events: list[str] = []
    async with actor_system(events.append) as system:
        counter = CounterCell(system)
        system.spawn(raises(ZeroDivisionError()))  # type: ignore[arg-type]  # a bug, on purpose
        await wait_all_tasks_blocked()
        assert events == ["child_crashed"]
        assert await counter.cell.ref.ask(Add()) == 1


async def test_a_log_that_cannot_be_written_ends_no_actor(autojump_clock: MockClock) -> None:
    def broken(name: str) -> None:
        raise BrokenPipeError

    async with actor_system(broken) as system:
        counter = CounterCell(system)
        await counter.crash()
        assert await counter.cell.ref.ask(Add()) == 1
