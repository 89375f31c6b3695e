"""The kernel: an actor takes waiting asks along with the message that it handles."""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.mail import Crashed, Envelope, Message, Overloaded
from tests.actors.counter_cell import Add, Asked, CounterCell, Do, Tell
from tests.virtual import actor_system


def is_add(message: Message) -> bool:
    return isinstance(message, Add)


def taking(counter: CounterCell, taken: list[Envelope]) -> Callable[[], Awaitable[None]]:
    """Return a call that takes along the asks of type `Add` that stand next in the queue."""

    async def take() -> None:
        while (envelope := counter.cell.take_along(is_add)) is not None:
            taken.append(envelope)

    return take


async def test_asks_are_taken_along_in_order_up_to_the_first_that_is_not_wanted(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter, taken = CounterCell(system), list[Envelope]()
        release = await counter.hold()
        counter.later(Do(taking(counter, taken)))
        asked = [counter.later(Add(1)), counter.later(Add(2))]
        between = counter.later(Do(trio.lowlevel.checkpoint))
        after = counter.later(Add(3))
        release.set()
        await wait_all_tasks_blocked()
        assert [envelope.message for envelope in taken] == [Add(1), Add(2)]
        assert between.at is not None
        assert after.result == 3, "what was not taken along was not handled"
        assert [each.at for each in asked] == [None, None]
        for envelope in taken:
            envelope.answer("along")
        await wait_all_tasks_blocked()
        assert [each.result for each in asked] == ["along", "along"]


async def test_an_event_is_not_taken_along(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter, taken = CounterCell(system), list[Message]()

        async def take() -> None:
            while (envelope := counter.cell.take_along(lambda message: True)) is not None:
                taken.append(envelope.message)

        release = await counter.hold()
        counter.later(Do(take))
        counter.cell.ref.tell(Tell(trio.lowlevel.checkpoint))
        release.set()
        await wait_all_tasks_blocked()
        assert taken == []


async def test_asks_that_are_put_back_come_first_and_in_their_order(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter, taken = CounterCell(system), list[Envelope]()

        async def take_and_put_back() -> None:
            await taking(counter, taken)()
            last = counter.later(Add(100))
            taken[0].answer("at once")
            counter.cell.put_back(taken)
            results.append(last)

        results: list[Asked] = []
        release = await counter.hold()
        counter.later(Do(take_and_put_back))
        results += [counter.later(Add(amount)) for amount in (1, 2, 3)]
        release.set()
        await wait_all_tasks_blocked()
        # The thousand that `Do` adds while its call runs is in no other answer.
        assert [each.result for each in results] == ["at once", 2, 5, 105]
        assert counter.cell.idle_since is not None


async def test_asks_that_were_taken_along_fail_with_the_actor(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        counter = CounterCell(system)

        async def take_and_break() -> None:
            await taking(counter, [])()
            raise ZeroDivisionError

        release = await counter.hold()
        counter.later(Do(take_and_break))
        asked = [counter.later(Add(1)), counter.later(Add(2))]
        after = counter.later(Do(trio.lowlevel.checkpoint))
        release.set()
        await wait_all_tasks_blocked()
        assert [type(each.result) for each in asked] == [Crashed, Crashed]
        assert after.result is None
        assert await counter.cell.ref.ask(Add(7)) == 7


async def test_an_ask_past_its_deadline_is_refused_and_not_taken_along(
    autojump_clock: MockClock,
) -> None:
    async with actor_system() as system:
        counter, taken = CounterCell(system), list[Envelope]()
        release = await counter.hold()
        counter.later(Do(taking(counter, taken)))
        late, other = counter.later(Add(1), within=0.0), counter.later(Add(2))
        release.set()
        await wait_all_tasks_blocked()
        assert isinstance(late.result, Overloaded)
        assert [envelope.message for envelope in taken] == [Add(2)]
        taken[0].answer(None)
        await wait_all_tasks_blocked()
        assert other.at is not None


async def test_asks_that_are_put_back_while_the_service_stops_are_refused(
    autojump_clock: MockClock,
) -> None:
    asked: list[Asked] = []
    async with actor_system() as system:
        counter, taken = CounterCell(system), list[Envelope]()
        stopping = trio.Event()

        async def take_and_put_back() -> None:
            await taking(counter, taken)()
            stopping.set()
            await trio.sleep(1)
            counter.cell.put_back(taken)

        release = await counter.hold()
        asked.append(counter.later(Do(take_and_put_back)))
        asked += [counter.later(Add(1)), counter.later(Add(2))]
        release.set()
        await stopping.wait()
    await wait_all_tasks_blocked()
    assert [type(each.result) for each in asked[1:]] == [Overloaded, Overloaded]
    assert counter.rows.total == 0
