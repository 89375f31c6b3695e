"""Background work: an error ends nothing, and every run is counted."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Overloaded
from pgs.actors.maintenance.chores import CHORES
from pgs.actors.maintenance.runner import Chore, ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.metrics import Metrics
from pgs.service_readiness import Readiness
from pgs.storage import emergency_stops
from pgs.storage import seats as rows
from pgs.storage.transactions import WriteFailed
from tests.actors.ready_core import ReadyCore, ready_core, until
from tests.virtual import Faults


def breaking(work: Callable[..., Any], times: int) -> Callable[..., Any]:
    """Return `work` with a defect that makes the first `times` runs fail."""
    left = iter(range(times))

    def run(*args: Any) -> Any:
        if next(left, None) is not None:
            raise KeyError("a defect")
        return work(*args)

    return run


async def test_an_error_while_deadlines_are_told_does_not_end_the_service(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        seat = await s.seat("alice", environment="live")
        await until(200)
        monkeypatch.setattr(rows, "due_seats", breaking(rows.due_seats, 1))
        await until(310)
        assert (await s.row(seat)).end_reason == "no_opponent"


class Clocked:
    """A chore's work that notes when it ran, and fails as a test says."""

    def __init__(self, *errors: Exception | None) -> None:
        self.ran_at: list[float] = []
        self._errors = iter(errors)

    async def __call__(self, parts: Parts, directory: PartnerDirectory) -> None:
        self.ran_at.append(round(trio.current_time(), 2))
        error = next(self._errors, None)
        if error is not None:
            raise error


@asynccontextmanager
async def running(s: ReadyCore, *chores: Chore) -> AsyncIterator[ChoreRunner]:
    """Run chores for a block, beside those of the service."""
    runner = ChoreRunner(chores, s.parts, s.core.directory)
    async with trio.open_nursery() as nursery:
        runner.start(nursery)
        yield runner
        nursery.cancel_scope.cancel()


async def test_an_expected_error_is_counted_and_the_chore_runs_again_after_its_pause(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    work = Clocked(WriteFailed("disk"), Overloaded("busy"))
    async with ready_core(tmp_path, on_event=events.append) as s:
        chore = Chore(name="try", work=work, every_s=10.0, failed="try_failed", required=True)
        async with running(s, chore) as runner:
            await until(15)
            assert runner.not_yet_run() == ["try"]
            assert runner.success_ages(trio.current_time())["try"] == pytest.approx(15, abs=0.01)
            await until(25)
            assert runner.not_yet_run() == []
            assert runner.success_ages(trio.current_time())["try"] == pytest.approx(5, abs=0.01)
    assert work.ran_at == [0, 10, 20]
    assert events.count("try_failed") == 2
    assert +runner.runs == {("try", "failed"): 2, ("try", "done"): 1}


async def test_a_chore_that_breaks_too_often_is_degraded_and_the_others_go_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    broken, sound = Clocked(*[KeyError("a defect")] * 5), Clocked()
    async with ready_core(tmp_path, on_event=events.append) as s:
        chores = (
            Chore(name="broken", work=broken, every_s=1.0),
            Chore(name="sound", work=sound, every_s=10.0),
        )
        async with running(s, *chores) as runner:
            await until(35.5)
    assert broken.ran_at == [0, 1, 2, 3, 33, 34, 35]
    assert sound.ran_at == [0, 10, 20, 30]
    assert (events.count("chore_broke"), events.count("chore_degraded")) == (5, 1)
    assert runner.runs["broken", "broke"] == 5


async def test_a_chore_that_runs_once_ends_with_its_first_success(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    work = Clocked(WriteFailed("disk"))
    async with (
        ready_core(tmp_path) as s,
        running(s, Chore(name="once", work=work, every_s=5.0, once=True)) as runner,
    ):
        await until(60)
        assert runner.success_ages(trio.current_time()) == {"once": 0.0}
    assert work.ran_at == [0, 5]


async def test_a_chore_that_waits_for_events_has_no_age_while_nothing_happens(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    happened = trio.Event()
    work = Clocked()

    async def wait(parts: Parts) -> None:
        await happened.wait()

    async with (
        ready_core(tmp_path) as s,
        running(s, Chore(name="wait", work=work, wait=wait, every_s=50.0)) as runner,
    ):
        await until(100)
        assert runner.success_ages(trio.current_time()) == {"wait": 0.0}
        happened.set()
        await until(120)
        assert runner.success_ages(trio.current_time())["wait"] == pytest.approx(20, abs=0.01)
    assert work.ran_at == [100]


def test_no_two_chores_have_one_name() -> None:
    assert len({chore.name for chore in CHORES}) == len(CHORES)


async def test_uses_of_keys_that_could_not_be_written_are_counted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    events: list[str] = []
    faults = Faults()
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        s.parts.key_uses.note("acme", "key_1", s.parts.clock.now())
        faults.fail("into key_use")
        await until(61)
        assert events.count("key_uses_unwritten") == 1
        await s.parts.key_uses.flush()
        assert events.count("key_uses_unwritten") == 2


async def test_a_service_whose_required_chores_have_not_succeeded_is_unready(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = breaking(emergency_stops.unfinished_stops, 1)
    monkeypatch.setattr("pgs.actors.seating.emergency_stop.unfinished_stops", search)
    async with ready_core(tmp_path) as s:
        readiness = Readiness()
        readiness.started(s.core)
        await until(1)
        assert await readiness.why_not() == "starting: finish_stops"
        await until(61)
        assert await readiness.why_not() is None


async def test_the_runs_of_chores_are_measured(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        metrics = Metrics()
        metrics.watch(s.core, lambda: 0, lambda: 0)
        await until(60.5)
        text = metrics.scrape().decode()
    assert 'pgs_chore_runs_total{chore="finish_stops",outcome="done"} 2.0' in text
    assert 'pgs_chore_success_age_seconds{chore="finish_stops"} 0.5' in text
