"""A machine's clock that is put forward by two days and put right again."""

from pathlib import Path

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.actors.maintenance.chores import WATCH_CLOCK_S
from pgs.actors.messages.account.factors import EnrollTotp, SteppedUp, VerifyTotp
from pgs.actors.shared.clock_watch import ClockWatch
from pgs.domain.totp import code_at
from pgs.service_readiness import Readiness
from pgs.storage.heartbeat import newest_row_at
from tests.actors.people import ask, join
from tests.actors.ready_core import ReadyCore, ready_core
from tests.virtual import START, TrioClock, clock

TWO_DAYS = 2 * 86_400


def wall(s: ReadyCore) -> TrioClock:
    assert isinstance(s.parts.clock, TrioClock)
    return s.parts.clock


async def test_readiness_says_that_rows_are_from_the_future_for_as_long_as_they_are(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    events = list[str]()
    async with ready_core(tmp_path) as s:
        wall(s).skip(TWO_DAYS)
        await s.seat("alice")
        assert await newest_row_at(s.reader) == s.parts.clock.now()
    with capture_logs() as lines:
        async with ready_core(tmp_path, seed=1, on_event=events.append) as s:
            readiness = Readiness()
            readiness.started(s.core)
            await trio.sleep(2 * WATCH_CLOCK_S)
            assert "in the future" in readiness.notes()["clock"]
            assert await readiness.why_not() is None
            ahead = s.parts.clock_watch.rows_ahead_s
            assert TWO_DAYS - 300 < ahead <= TWO_DAYS
            assert events.count("clock_contradicts_rows") == 1
            wall(s).skip(TWO_DAYS)
            assert readiness.notes() == {}
    assert [line["event"] for line in lines].count("clock_contradicts_rows") == 1


async def test_an_empty_database_contradicts_no_clock(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    watch = ClockWatch(clock())
    assert not watch.note_newest_row(None)
    assert watch.fault() is None


async def test_readiness_says_that_the_clock_went_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        readiness = Readiness()
        readiness.started(s.core)
        wall(s).behind_s = 5
        assert readiness.notes() == {}
        wall(s).behind_s = TWO_DAYS
        assert f"went back by {TWO_DAYS} s" in readiness.notes()["clock"]


def test_rows_that_are_ahead_are_reported_once_each_time() -> None:
    class Standing:
        def now(self) -> int:
            return START

        def now_ms(self) -> int:
            return START * 1000

        real, real_ms = now, now_ms

    watch = ClockWatch(Standing())
    told = [watch.note_newest_row(START + ahead) for ahead in (0, 5, 6, 60, 0, 60)]
    assert told == [False, False, True, False, False, True]


async def test_codes_work_at_once_when_the_clock_was_put_right_while_the_service_runs(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        secret = (await ask(s, EnrollTotp("ada"))).secret
        wall(s).skip(TWO_DAYS)
        assert isinstance(
            await ask(s, VerifyTotp("ada", code_at(secret, s.parts.clock.real()))), SteppedUp
        )
        wall(s).behind_s = TWO_DAYS
        real = s.parts.clock.real()
        reply = await ask(s, VerifyTotp("ada", code_at(secret, real)))
        assert isinstance(reply, SteppedUp)
        assert reply.until < real + 86_400
