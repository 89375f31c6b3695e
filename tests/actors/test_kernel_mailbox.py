"""The kernel: mailboxes are bounded, and no ask waits in one past its deadline."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel import ref
from pgs.actors.kernel.mail import Overloaded
from pgs.actors.kernel.ref import ASK_DEADLINE_S
from pgs.actors.kernel.system import TEND_S
from tests.actors.counter_cell import Add, CounterCell, Tell
from tests.virtual import actor_system


async def test_an_ask_to_a_full_mailbox_is_refused_and_nothing_is_done(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system, limit=3)
        release = await counter.hold()
        queued = [counter.later(Add()) for _ in range(3)]
        await wait_all_tasks_blocked()
        with pytest.raises(Overloaded, match="full"):
            await counter.cell.ref.ask(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert [asked.result for asked in queued] == [1, 2, 3]
        assert counter.rows.total == 3


async def test_a_mailbox_keeps_some_room_for_events_when_it_is_full_for_asks(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ref, "TELL_RESERVE", 2)
    events: list[str] = []
    async with actor_system(events.append) as system:
        counter = CounterCell(system, limit=1)
        release = await counter.hold()
        assert [counter.cell.ref.tell(Tell(trio.lowlevel.checkpoint)) for _ in range(5)] == [
            True,
            True,
            True,
            False,
            False,
        ]
        assert events == ["mailbox_full", "message_dropped"] * 2
        release.set()
        await wait_all_tasks_blocked()
        assert counter.cell.ref.tell(Tell(trio.lowlevel.checkpoint))


async def test_an_ask_that_is_past_its_deadline_makes_room_for_another(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system, limit=1)
        release = await counter.hold()
        late = counter.later(Add(10), within=0.2)
        await trio.sleep(0.3)  # the system has not been tended yet
        assert late.at is None
        other = counter.later(Add())
        await wait_all_tasks_blocked()
        assert isinstance(late.result, Overloaded)
        release.set()
        await wait_all_tasks_blocked()
        assert other.result == 1
        assert counter.rows.total == 1


async def test_a_queued_ask_is_answered_at_its_deadline_even_if_the_actor_is_stuck(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        release = await counter.hold()
        assert counter.cell.ref.tell(
            Tell(trio.lowlevel.checkpoint)
        )  # it has no deadline, and is first in the queue
        long, short = counter.later(Add()), counter.later(Add(), within=2)
        await trio.sleep(20)
        for asked, deadline in ((long, ASK_DEADLINE_S), (short, 2)):
            assert isinstance(asked.result, Overloaded)
            assert asked.at is not None
            assert deadline <= asked.at <= deadline + TEND_S
        release.set()
        await wait_all_tasks_blocked()
        assert counter.rows.total == 0
        assert await counter.cell.ref.ask(Add()) == 1


async def test_an_ask_that_is_taken_at_its_deadline_is_not_handled(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)
        counter.rows.commit_s = 1.5
        first, second = counter.later(Add()), counter.later(Add(), within=1.5)
        await trio.sleep(10)
        assert first.result == 1
        assert isinstance(second.result, Overloaded)
        assert second.at == 1.5
        assert counter.rows.total == 1
