"""Idle actors are closed and opened again, and a stop answers everybody within its grace."""

from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.cell import IDLE_CLOSE_S
from pgs.actors.kernel.mail import LATER, Crashed, Envelope, Interrupted, Message, Overloaded
from pgs.actors.kernel.system import STOP_GRACE_S, System
from pgs.storage.transactions import Stmt, Tx
from tests.actors.counter_cell import Add, CounterCell, Defer, Do, Resolve, Tell
from tests.patience import PATIENCE_S
from tests.virtual import Faults, actor_system, open_store, tend


async def test_an_idle_actor_is_closed_and_opened_again_from_rows(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        await counter.cell.ref.ask(Add())
        await trio.sleep_until(IDLE_CLOSE_S - 1)
        assert system.cells == {counter.cell}
        await trio.sleep_until(IDLE_CLOSE_S + 1)
        assert system.cells == set()
        assert await counter.cell.ref.ask(Add()) == 2
        assert await counter.cell.ref.ask(Add()) == 3
        assert counter.rows.loads == 2, "the actor did not stay open"


async def test_an_event_put_off_for_later_does_not_keep_an_actor_open(
    autojump_clock: MockClock,
) -> None:
    async def later() -> object:
        return LATER

    async with actor_system() as system:
        counter = CounterCell(system)
        counter.cell.ref.tell(Tell(later))
        await trio.sleep(IDLE_CLOSE_S + 1)
        assert system.cells == set()


async def test_a_message_keeps_an_actor_open(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        for _ in range(10):
            await counter.cell.ref.ask(Add())
            await trio.sleep(IDLE_CLOSE_S * 0.9)
        assert counter.rows.loads == 1


async def test_an_actor_that_owes_an_answer_or_is_at_work_is_not_idle(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        owed = counter.later(Defer("a"))
        await trio.sleep(IDLE_CLOSE_S * 3)
        assert counter.cell.idle_since is None
        assert owed.at is None
        counter.later(Do(partial(trio.sleep, IDLE_CLOSE_S * 3)))
        await trio.sleep(IDLE_CLOSE_S * 2)
        assert counter.cell.idle_since is None
        counter.cell.ref.tell(Resolve("a", "at last"))
        await trio.sleep(IDLE_CLOSE_S * 1.1)
        assert owed.result == "at last"
        assert counter.rows.loads == 1
        await trio.sleep(IDLE_CLOSE_S)
        assert system.cells == set()


async def test_using_a_retired_address_raises_an_error(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.cell.retired = True
        with pytest.raises(RuntimeError, match="closed"):
            await counter.cell.ref.ask(Add())


async def test_stopping_finishes_what_was_taken_and_refuses_what_is_queued_or_still_comes(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter, idle = CounterCell(system), CounterCell(system)
        counter.rows.commit_s = 1
        await idle.cell.ref.ask(Add())
        owed = idle.later(Defer("a"))
        taken = counter.later(Add())
        await wait_all_tasks_blocked()
        queued = [counter.later(Add()) for _ in range(3)]
        await wait_all_tasks_blocked()
        with trio.CancelScope(shield=True):
            await system.stop()
        assert trio.current_time() == 1, "it waits no longer than it must"
        await wait_all_tasks_blocked()
        assert taken.result == 1
        assert [type(asked.result) for asked in queued] == [Overloaded] * 3
        assert isinstance(owed.result, Crashed)
        assert counter.rows.total == 1
        with pytest.raises(Overloaded):
            await counter.cell.ref.ask(Add())
        assert not counter.cell.ref.tell(Tell(trio.lowlevel.checkpoint))


@pytest.mark.parametrize("loading", [False, True], ids=["at work", "loading"])
async def test_stopping_waits_for_a_stuck_actor_no_longer_than_the_grace(
    autojump_clock: MockClock, loading: bool
) -> None:
    class Stuck:
        async def load(self) -> None:
            if loading:
                await trio.sleep_forever()

        async def receive(self, message: Message, envelope: Envelope) -> object:
            await trio.sleep_forever()

    async with actor_system() as system:
        counter = CounterCell(system, actor=Stuck())
        stuck = counter.later(Add())
        await wait_all_tasks_blocked()
        with trio.CancelScope(shield=True):
            await system.stop()
        await wait_all_tasks_blocked()
        assert trio.current_time() == STOP_GRACE_S
        assert isinstance(stuck.result, Overloaded if loading else Crashed)
        assert system.cells == set()


async def test_cancelling_the_nursery_without_stopping_answers_everybody_within_the_grace(
    autojump_clock: MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        system = System(nursery)
        nursery.start_soon(system.refuse_when_cancelled)
        nursery.start_soon(tend, system)
        stuck, busy, idle = CounterCell(system), CounterCell(system), CounterCell(system)
        busy.rows.commit_s = 1
        await idle.cell.ref.ask(Add())
        asks = [stuck.later(Do(trio.sleep_forever)), busy.later(Add()), idle.later(Defer("a"))]
        await wait_all_tasks_blocked()
        asks.append(stuck.later(Add()))
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    await wait_all_tasks_blocked()
    assert trio.current_time() == STOP_GRACE_S
    assert [type(asked.result) for asked in asks] == [Interrupted, int, Interrupted, Overloaded]


async def test_an_ask_after_the_nursery_has_closed_is_answered() -> None:
    async with trio.open_nursery() as nursery:
        system = System(nursery)
    with pytest.raises(Overloaded):
        await CounterCell(system).cell.ref.ask(Add())
    assert system.cells == set()


async def test_a_disk_that_hangs_in_a_commit_does_not_keep_the_actors_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("system", "cell"):
        monkeypatch.setattr(f"pgs.actors.kernel.{module}.STOP_GRACE_S", 0.05)
    faults = Faults()
    tx = Tx(
        "platform",
        (
            Stmt(
                "tiers.insert_lock",
                {"environment": "test", "tier_id": "bronze", "game_id": "chess"},
                1,
            ),
        ),
    )
    with open_store(tmp_path, faults, inline=False) as database, faults.hold("commit"):
        database.start()
        with trio.fail_after(PATIENCE_S):
            async with actor_system() as system:
                stuck = CounterCell(system).later(Do(lambda: database.writer.submit(tx)))
                while not faults.count("commit"):  # noqa: ASYNC110  set in a thread
                    await trio.sleep(0.001)
                with trio.CancelScope(shield=True):
                    await system.stop()
        await wait_all_tasks_blocked()
        assert isinstance(stuck.result, Crashed)
