"""The kernel: one message at a time, bounded mailboxes, restarts from rows, and an answer to every ask."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors import kernel
from pgs.actors.kernel import LATER, Cell, Command, Crashed, Degraded, Envelope, Message, Overloaded, System, Watch
from pgs.storage.database import OutcomeUnknown, ReadFailed, Stmt, Tx, WriteFailed, WriterFull
from tests.virtual import Faults, actor_system, open_store


class Add(Command[int], frozen=True):
    """Add to the total; answers the new total."""

    amount: int = 1


class Do(Command[object], frozen=True):
    """Call something inside the actor; answers what it returns."""

    call: Callable[[], Awaitable[object]]


class Defer(Command[str], frozen=True):
    """Answered by the message that resolves its key."""

    key: str


class Resolve(Message, frozen=True):
    """Answers whoever waits for a key."""

    key: str
    answer: str


class Tell(Message, frozen=True):
    """Call something inside the actor."""

    call: Callable[[], Awaitable[object]]


class Rows:
    """What a counter keeps on disk."""

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
    """An ask under way, and what came of it, when."""

    def __init__(self) -> None:
        self.result: Any = None
        self.at: float | None = None


def _raises(error: Exception) -> Callable[[], Awaitable[object]]:
    async def call() -> object:
        raise error

    return call


class Desk:
    """One cell with its rows, and short ways to ask it."""

    def __init__(self, system: System, watch: Watch | None = None, limit: int = kernel.MAILBOX_LIMIT, name: str = "desk") -> None:
        self.rows = Rows()
        self.watch = watch or Watch()
        self.cell = Cell(name, system, self.watch, lambda _: Counter(self.rows), limit)
        self._system = system

    def later(self, command: Command[Any], within: float = kernel.ASK_DEADLINE_S) -> Asked:
        """Put an ask into the mailbox now, and wait for its answer in a task of its own."""
        asked, envelope = Asked(), Envelope(command, trio.current_time() + within)
        self.cell.post(envelope)

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
            await self.cell.ref.ask(Do(_raises(ZeroDivisionError())))

    async def hold(self) -> trio.Event:
        """Make the actor busy until the event is set."""
        release = trio.Event()
        self.later(Do(release.wait))
        await wait_all_tasks_blocked()
        return release


def _name(parameter: object) -> str:
    return parameter.__name__ if isinstance(parameter, type) else type(parameter).__name__


# --- asking and telling --------------------------------------------------------------------------------------------------------


async def test_an_ask_returns_the_actors_answer(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        assert await desk.cell.ref.ask(Add(2)) == 2
        assert await desk.cell.ref.ask(Add(3)) == 5
        assert desk.rows.loads == 1


async def test_messages_are_handled_one_at_a_time_in_their_order(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk, seen = Desk(system), []

        def note(number: int) -> Callable[[], Awaitable[object]]:
            async def call() -> object:
                seen.append(number)
                await trio.sleep(0.1)
                seen.append(number)
                return None

            return call

        for number in range(3):
            assert desk.cell.ref.tell(Tell(note(number)))
        await trio.sleep(1)
        assert seen == [0, 0, 1, 1, 2, 2]


async def test_an_asker_who_leaves_while_queued_stops_no_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        release = await desk.hold()
        with trio.move_on_after(0.5) as scope:
            await desk.cell.ref.ask(Add())
        assert scope.cancelled_caught
        assert desk.rows.total == 0
        release.set()
        await trio.sleep(0.1)
        assert desk.rows.total == 1


async def test_an_asker_who_leaves_during_the_commit_stops_no_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        desk.rows.commit_s = 1
        with trio.move_on_after(0.5) as scope:
            await desk.cell.ref.ask(Add())
        assert scope.cancelled_caught
        await trio.sleep(1)
        assert desk.rows.total == 1
        assert await desk.cell.ref.ask(Add()) == 2


async def test_a_message_that_was_taken_is_waited_for_past_its_deadline(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        desk.rows.commit_s = 60
        assert await desk.cell.ref.ask(Add()) == 1
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
        cell = Cell("eager", system, Watch(), lambda _: Eager())
        for amount in (1, 2, 1):
            answer: object = await cell.ref.ask(Add(amount))
            assert answer == "first"


async def test_an_envelope_keeps_an_answer_that_comes_before_the_asker_waits() -> None:
    envelope = Envelope(Add())
    envelope.answer(7)
    envelope.answer(8)
    assert await envelope.wait() == 7


async def test_a_message_lends_the_actor_nothing_of_its_senders_context(autojump_clock: MockClock) -> None:
    request = ContextVar("request", default="none")

    async def read() -> object:
        return request.get()

    async with actor_system() as system:
        desk = Desk(system)
        request.set("a whole request")
        assert await desk.cell.ref.ask(Do(read)) == "none"


# --- full mailboxes and deadlines ----------------------------------------------------------------------------------------------


async def test_a_full_mailbox_is_an_answer_and_nothing_is_done(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system, limit=3)
        release = await desk.hold()
        queued = [desk.later(Add()) for _ in range(3)]
        await wait_all_tasks_blocked()
        with pytest.raises(Overloaded, match="full"):
            await desk.cell.ref.ask(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert [asked.result for asked in queued] == [1, 2, 3]
        assert desk.rows.total == 3


async def test_events_have_room_left_when_asks_have_not_until_that_is_full_too(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "TELL_RESERVE", 2)
    events: list[str] = []
    async with actor_system(events.append) as system:
        desk = Desk(system, limit=1)
        release = await desk.hold()
        assert [desk.cell.ref.tell(Tell(trio.lowlevel.checkpoint)) for _ in range(5)] == [True, True, True, False, False]
        assert events == ["mailbox_full", "message_dropped"] * 2
        release.set()
        await wait_all_tasks_blocked()
        assert desk.cell.ref.tell(Tell(trio.lowlevel.checkpoint))


async def test_an_ask_that_is_past_its_deadline_makes_room_for_another(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system, limit=1)
        release = await desk.hold()
        late = desk.later(Add(10), within=0.2)
        await trio.sleep(0.3)  # the janitor has not come yet
        assert late.at is None
        other = desk.later(Add())
        await wait_all_tasks_blocked()
        assert isinstance(late.result, Overloaded)
        release.set()
        await wait_all_tasks_blocked()
        assert other.result == 1
        assert desk.rows.total == 1


async def test_a_queued_ask_is_answered_at_its_deadline_however_stuck_the_actor_is(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        release = await desk.hold()
        assert desk.cell.ref.tell(Tell(trio.lowlevel.checkpoint))  # has no deadline, and stands in front
        long, short = desk.later(Add()), desk.later(Add(), within=2)
        await trio.sleep(20)
        for asked, deadline in ((long, kernel.ASK_DEADLINE_S), (short, 2)):
            assert isinstance(asked.result, Overloaded)
            assert asked.at is not None
            assert deadline <= asked.at <= deadline + kernel.JANITOR_S
        release.set()
        await wait_all_tasks_blocked()
        assert desk.rows.total == 0
        assert await desk.cell.ref.ask(Add()) == 1


async def test_an_ask_that_is_taken_at_its_deadline_is_dropped_untouched(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        desk.rows.commit_s = 1.5
        first, second = desk.later(Add()), desk.later(Add(), within=1.5)
        await trio.sleep(10)
        assert first.result == 1
        assert isinstance(second.result, Overloaded)
        assert second.at == 1.5
        assert desk.rows.total == 1


# --- crashes -------------------------------------------------------------------------------------------------------------------


async def test_a_crash_loses_its_message_alone_and_the_next_one_finds_the_state_of_the_rows(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        assert await desk.cell.ref.ask(Add()) == 1
        release = await desk.hold()
        broken, next_one = desk.later(Do(_raises(ZeroDivisionError()))), desk.later(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert isinstance(broken.result, Crashed)
        assert not isinstance(broken.result, Degraded)
        assert next_one.result == 2
        assert desk.rows.loads == 2


async def test_what_a_crash_tells_holds_no_value_of_the_actors(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        with pytest.raises(Crashed) as crashed:
            await Desk(system).cell.ref.ask(Do(_raises(ValueError("whsec_secret"))))
        assert str(crashed.value) == "ValueError"


async def test_a_partner_whose_actors_break_too_often_rests_for_its_cool_down_to_the_second(autojump_clock: MockClock) -> None:
    events: list[str] = []
    async with actor_system(events.append) as system:
        desk = Desk(system)
        for _ in range(3):
            await desk.crash()
            await trio.sleep(1)
        assert await desk.cell.ref.ask(Add()) == 1, "three restarts are allowed"
        release = await desk.hold()
        broken, queued = desk.later(Do(_raises(ZeroDivisionError()))), desk.later(Add())
        release.set()
        await wait_all_tasks_blocked()
        assert isinstance(broken.result, Crashed)
        assert isinstance(queued.result, Degraded)
        assert events.count("partner_degraded") == 1
        loads, began = desk.rows.loads, trio.current_time()
        for seconds in (0.0, 15.0, 29.999):
            await trio.sleep_until(began + seconds)
            with pytest.raises(Degraded):
                await desk.cell.ref.ask(Add())
            assert not desk.cell.ref.tell(Tell(trio.lowlevel.checkpoint))
        assert desk.rows.loads == loads, "nobody tried meanwhile"
        await trio.sleep_until(began + 30)
        assert await desk.cell.ref.ask(Add()) == 2
        for _ in range(3):
            await desk.crash()
        assert await desk.cell.ref.ask(Add()) == 3, "the count began afresh"


async def test_all_actors_of_a_degraded_partner_rest_and_no_neighbours(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        watch = Watch()
        desk, sibling, neighbour = Desk(system, watch), Desk(system, watch), Desk(system)
        await sibling.cell.ref.ask(Add())
        busy = sibling.later(Do(partial(trio.sleep, 1)))
        for _ in range(4):
            await desk.crash()
        with pytest.raises(Degraded):
            await sibling.cell.ref.ask(Add())
        assert await neighbour.cell.ref.ask(Add()) == 1
        await trio.sleep(2)
        assert busy.at is not None
        assert busy.result is None, "what was taken before goes its way"


def test_crashes_further_apart_than_the_window_never_degrade() -> None:
    watch = Watch()
    assert not any(watch.crashed(now) for now in (0.0, 1.0, 2.0, 30.0, 31.0, 32.0, 60.0, 61.0, 62.0))
    assert not watch.degraded(62.0)
    assert watch.crashed(89.999)
    assert watch.degraded(119.998)
    assert not watch.degraded(119.999)


def test_crashes_during_the_cool_down_do_not_lengthen_it() -> None:
    watch = Watch()
    assert [watch.crashed(0.0) for _ in range(4)] == [False, False, False, True]
    assert not any(watch.crashed(29.0) for _ in range(10))
    assert not watch.degraded(30.0)
    assert not watch.crashed(30.0)


async def test_a_child_that_breaks_takes_nobody_down(autojump_clock: MockClock) -> None:
    events: list[str] = []
    async with actor_system(events.append) as system:
        desk = Desk(system)
        system.spawn(_raises(ZeroDivisionError()))  # type: ignore[arg-type]
        await wait_all_tasks_blocked()
        assert events == ["child_crashed"]
        assert await desk.cell.ref.ask(Add()) == 1


async def test_a_log_that_cannot_be_written_takes_nobody_down(autojump_clock: MockClock) -> None:
    def broken(name: str) -> None:
        raise BrokenPipeError

    async with actor_system(broken) as system:
        desk = Desk(system)
        await desk.crash()
        assert await desk.cell.ref.ask(Add()) == 1


# --- outages -------------------------------------------------------------------------------------------------------------------


async def test_a_load_that_fails_is_tried_once_for_each_message_until_the_partner_rests(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        desk.rows.load_error = ReadFailed("seats.find_head", OSError())
        with pytest.raises(Crashed) as crashed:
            await desk.cell.ref.ask(Add())
        assert crashed.value.noun == "seats"
        await trio.sleep(10)
        assert desk.rows.loads == 1, "nobody asked again"
        queued = [desk.later(Add()) for _ in range(6)]
        await wait_all_tasks_blocked()
        assert desk.rows.loads == 4
        assert [type(asked.result) for asked in queued] == [Crashed] * 3 + [Degraded] * 3
        desk.rows.load_error = None
        await trio.sleep(30)
        assert await desk.cell.ref.ask(Add()) == 1


async def test_a_load_that_fails_after_a_crash_waits_for_the_next_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        await desk.cell.ref.ask(Add())
        desk.rows.load_error = ZeroDivisionError()
        await desk.crash()
        await trio.sleep(10)
        assert desk.rows.loads == 2
        desk.rows.load_error = None
        assert await desk.cell.ref.ask(Add()) == 2


@pytest.mark.parametrize(
    ("error", "answer"),
    [(WriterFull(), Overloaded), (Overloaded(), Overloaded), (WriteFailed(), Crashed)],
    ids=_name,
)
async def test_a_write_that_was_not_done_fails_its_ask_and_keeps_the_state(
    autojump_clock: MockClock, error: Exception, answer: type[Exception]
) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        waiting = desk.later(Defer("a"))
        for _ in range(10):
            with pytest.raises(answer):
                await desk.cell.ref.ask(Do(_raises(error)))
        assert desk.rows.loads == 1
        desk.cell.ref.tell(Resolve("a", "still there"))
        await wait_all_tasks_blocked()
        assert waiting.result == "still there"


@pytest.mark.parametrize("error", [WriterFull(), WriteFailed(), OutcomeUnknown(), Overloaded()], ids=_name)
async def test_an_event_that_could_not_be_written_starts_the_actor_again_from_rows(autojump_clock: MockClock, error: Exception) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        waiting = desk.later(Defer("a"))
        await wait_all_tasks_blocked()
        for _ in range(10):
            desk.cell.ref.tell(Tell(_raises(error)))
        await wait_all_tasks_blocked()
        assert isinstance(waiting.result, Crashed), "who would answer it now?"
        assert desk.rows.loads == 11
        assert await desk.cell.ref.ask(Add()) == 1, "an outage degrades nobody"


@pytest.mark.parametrize("error", [OutcomeUnknown(), ReadFailed("seats.find_seat", OSError())], ids=_name)
async def test_an_outage_makes_the_actor_start_again_from_rows_and_degrades_nobody(autojump_clock: MockClock, error: Exception) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        for _ in range(10):
            with pytest.raises(Crashed) as crashed:
                await desk.cell.ref.ask(Do(_raises(error)))
            assert crashed.value.noun == getattr(error, "noun", None)
        assert desk.rows.loads == 11
        assert await desk.cell.ref.ask(Add()) == 1


async def test_a_crash_below_is_counted_where_it_happened(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        above, below = Desk(system), Desk(system)

        async def ask_below() -> object:
            return await below.cell.ref.ask(Do(_raises(ZeroDivisionError())))

        for _ in range(4):
            with pytest.raises(Crashed):
                await above.cell.ref.ask(Do(ask_below))
        assert below.watch.degraded(trio.current_time())
        assert not above.watch.degraded(trio.current_time())


# --- answers that come later ---------------------------------------------------------------------------------------------------


async def test_an_ask_can_be_answered_by_a_later_message(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        first, second = desk.later(Defer("a")), desk.later(Defer("b"))
        await trio.sleep(60)
        assert await desk.cell.ref.ask(Add()) == 1, "others are served meanwhile"
        desk.cell.ref.tell(Resolve("b", "yes"))
        await wait_all_tasks_blocked()
        assert (first.at, second.result) == (None, "yes")
        desk.cell.ref.tell(Resolve("a", "no"))
        await wait_all_tasks_blocked()
        assert first.result == "no"


async def test_an_ask_can_be_answered_by_a_child_that_reports_back(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)

        async def child() -> None:
            await trio.sleep(10)
            desk.cell.ref.tell(Resolve("a", "done"))

        system.spawn(child)
        assert await desk.cell.ref.ask(Defer("a")) == "done"
        assert trio.current_time() == 10


async def test_a_crash_answers_those_whose_answer_was_to_come_later(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        waiting = [desk.later(Defer(key)) for key in "abc"]
        await wait_all_tasks_blocked()
        await desk.crash()
        await wait_all_tasks_blocked()
        assert [type(asked.result) for asked in waiting] == [Crashed] * 3


async def test_a_later_answer_to_someone_who_has_left_is_no_error(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        with trio.move_on_after(1):
            await desk.cell.ref.ask(Defer("a"))
        desk.cell.ref.tell(Resolve("a", "too late"))
        await wait_all_tasks_blocked()
        assert await desk.cell.ref.ask(Add()) == 1
        assert desk.rows.loads == 1


# --- closing and stopping ------------------------------------------------------------------------------------------------------


async def test_an_idle_actor_is_closed_and_opened_again_from_rows(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        await desk.cell.ref.ask(Add())
        await trio.sleep_until(kernel.IDLE_CLOSE_S - 1)
        assert system.cells == {desk.cell}
        await trio.sleep_until(kernel.IDLE_CLOSE_S + 1)
        assert system.cells == set()
        assert await desk.cell.ref.ask(Add()) == 2
        assert await desk.cell.ref.ask(Add()) == 3
        assert desk.rows.loads == 2, "and then stays open again"


async def test_an_event_put_off_for_later_does_not_keep_an_actor_open(autojump_clock: MockClock) -> None:
    async def later() -> object:
        return LATER

    async with actor_system() as system:
        desk = Desk(system)
        desk.cell.ref.tell(Tell(later))
        await trio.sleep(kernel.IDLE_CLOSE_S + 1)
        assert system.cells == set()


async def test_a_message_keeps_an_actor_open(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        for _ in range(10):
            await desk.cell.ref.ask(Add())
            await trio.sleep(kernel.IDLE_CLOSE_S * 0.9)
        assert desk.rows.loads == 1


async def test_an_actor_that_owes_an_answer_or_is_at_work_is_not_idle(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        owed = desk.later(Defer("a"))
        await trio.sleep(kernel.IDLE_CLOSE_S * 3)
        assert desk.cell.idle_since is None
        assert owed.at is None
        desk.later(Do(partial(trio.sleep, kernel.IDLE_CLOSE_S * 3)))
        await trio.sleep(kernel.IDLE_CLOSE_S * 2)
        assert desk.cell.idle_since is None
        desk.cell.ref.tell(Resolve("a", "at last"))
        await trio.sleep(kernel.IDLE_CLOSE_S * 1.1)
        assert owed.result == "at last"
        assert desk.rows.loads == 1
        await trio.sleep(kernel.IDLE_CLOSE_S)
        assert system.cells == set()


async def test_an_address_that_was_retired_is_a_bug_to_use(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk = Desk(system)
        desk.cell.retired = True
        with pytest.raises(RuntimeError, match="closed"):
            await desk.cell.ref.ask(Add())


async def test_stopping_finishes_what_was_taken_and_refuses_what_is_queued_or_still_comes(autojump_clock: MockClock) -> None:
    async with actor_system() as system:
        desk, idle = Desk(system), Desk(system)
        desk.rows.commit_s = 1
        await idle.cell.ref.ask(Add())
        owed = idle.later(Defer("a"))
        taken = desk.later(Add())
        await wait_all_tasks_blocked()
        queued = [desk.later(Add()) for _ in range(3)]
        await wait_all_tasks_blocked()
        with trio.CancelScope(shield=True):
            await system.stop()
        assert trio.current_time() == 1, "it waits no longer than it must"
        await wait_all_tasks_blocked()
        assert taken.result == 1
        assert [type(asked.result) for asked in queued] == [Overloaded] * 3
        assert isinstance(owed.result, Crashed)
        assert desk.rows.total == 1
        with pytest.raises(Overloaded):
            await desk.cell.ref.ask(Add())
        assert not desk.cell.ref.tell(Tell(trio.lowlevel.checkpoint))


@pytest.mark.parametrize("loading", [False, True], ids=["at work", "loading"])
async def test_stopping_waits_for_a_stuck_actor_no_longer_than_the_grace(autojump_clock: MockClock, loading: bool) -> None:
    class Stuck:
        async def load(self) -> None:
            if loading:
                await trio.sleep_forever()

        async def receive(self, message: Message, envelope: Envelope) -> object:
            await trio.sleep_forever()

    async with actor_system() as system:
        desk = Desk(system)
        desk.cell._make = lambda _: Stuck()
        stuck = desk.later(Add())
        await wait_all_tasks_blocked()
        with trio.CancelScope(shield=True):
            await system.stop()
        await wait_all_tasks_blocked()
        assert trio.current_time() == kernel.STOP_GRACE_S
        assert isinstance(stuck.result, Overloaded if loading else Crashed)
        assert system.cells == set()


async def test_cancelling_the_nursery_without_stopping_answers_everybody_within_the_grace(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        system = System(nursery)
        nursery.start_soon(system.janitor)
        stuck, busy, idle = Desk(system), Desk(system), Desk(system)
        busy.rows.commit_s = 1
        await idle.cell.ref.ask(Add())
        asks = [stuck.later(Do(trio.sleep_forever)), busy.later(Add()), idle.later(Defer("a"))]
        await wait_all_tasks_blocked()
        asks.append(stuck.later(Add()))
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    await wait_all_tasks_blocked()
    assert trio.current_time() == kernel.STOP_GRACE_S
    assert [type(asked.result) for asked in asks] == [Crashed, int, Crashed, Overloaded]


async def test_an_ask_after_the_nursery_has_closed_is_answered() -> None:
    async with trio.open_nursery() as nursery:
        system = System(nursery)
    with pytest.raises(Overloaded):
        await Desk(system).cell.ref.ask(Add())
    assert system.cells == set()


async def test_a_disk_that_hangs_in_a_commit_does_not_keep_the_actors_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "STOP_GRACE_S", 0.05)
    faults = Faults()
    tx = Tx("platform", (Stmt("tiers.insert_lock", {"environment": "test", "tier_id": "bronze", "game_id": "chess"}, 1),))
    with open_store(tmp_path, faults, inline=False) as database, faults.hold("commit"):
        database.start()
        with trio.fail_after(30):
            async with actor_system() as system:
                stuck = Desk(system).later(Do(lambda: database.writer.submit(tx)))
                while not faults.count("commit"):  # noqa: ASYNC110  a thread sets no event of trio's
                    await trio.sleep(0.001)
                with trio.CancelScope(shield=True):
                    await system.stop()
        await wait_all_tasks_blocked()
        assert isinstance(stuck.result, Crashed)
