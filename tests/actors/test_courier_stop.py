"""What happens to nudges in flight when the service stops."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.kernel.system import STOP_GRACE_S
from pgs.actors.shared.deliveries import DRAIN_S
from pgs.http.outbound.tries import TRY_TIMEOUT_S
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, FOR_EVER, GONE, HUNG, OK, Answer, Endpoints
from tests.actors.ready_core import until
from tests.virtual import seed_scheduler


@pytest.mark.parametrize("seed", range(10))
async def test_tries_that_run_when_the_service_stops_finish_are_logged_and_count(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    seed_scheduler(seed)  # the end of the last try and the stop are handled in either order
    endpoints = Endpoints(*[GONE] * 5, *[Answer(404, 2.0)] * 3, Answer(200, 4.0))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=5)
        await until(1)
        s.nudge(times=4)
        await until(1.5)
    assert trio.current_time() < 5.5
    async with courier_core(tmp_path, endpoints) as s:
        assert [attempt.status_code for attempt in (await s.attempts())[:4]] == [200, 404, 404, 404]
        assert await s.failures() == 0
        assert len(endpoints.posts) == 9


async def test_a_failure_that_completes_during_the_stop_counts(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(404, 2.0))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=3)
        await until(1)
    async with courier_core(tmp_path, endpoints) as s:
        assert (await s.failures(), len(await s.attempts())) == (3, 3)


async def test_nothing_new_begins_while_the_service_stops(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[DOWN] * 4, HUNG)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=20)
        await until(0.5)
        assert len(endpoints.posts) == 8
        s.parts.deliveries.begin_drain()
        s.nudge()
        with pytest.raises(Overloaded):
            await s.send_test()
        await until(4)
        assert len(endpoints.posts) == 8
    assert len(endpoints.posts) == 8
    assert trio.current_time() == pytest.approx(5.0, abs=0.01)
    async with courier_core(tmp_path, endpoints) as s:
        assert (
            await s.failures() == 0
        )  # four were cut between their tries, four more after their first
        assert len(await s.attempts()) == 8


async def test_a_stop_does_not_wait_for_a_nudge_between_two_tries(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(DOWN)) as s:
        s.nudge()
        await until(2)  # between two tries
    assert trio.current_time() < 2.1


async def test_a_stop_does_not_wait_for_a_courier_of_a_degraded_partner(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(Answer(404, 1.0))) as s:
        s.nudge()
        await until(0.5)
        s.degrade_partner()
        await until(3)
    assert trio.current_time() < 4.1


async def test_a_stop_gives_up_tries_that_never_end(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(FOR_EVER)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=30)
        await until(100)
        assert endpoints.running == 8
    assert endpoints.running == 0
    assert trio.current_time() <= 100 + DRAIN_S + STOP_GRACE_S
    assert DRAIN_S > TRY_TIMEOUT_S  # a try that begins at the last moment ends in time


async def test_a_test_event_in_flight_is_answered_during_the_stop(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    answers = list[object]()
    async with (
        trio.open_nursery() as nursery,
        courier_core(tmp_path, Endpoints(Answer(200, 3.0))) as s,
    ):
        await s.save_webhook()

        async def test() -> None:
            answers.append((await s.send_test()).delivered)

        nursery.start_soon(test)
        await until(1)
    assert answers == [True]
    assert trio.current_time() < 3.1


async def test_a_test_event_that_never_ends_is_answered_at_the_stop(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with (
        trio.open_nursery() as nursery,
        courier_core(tmp_path, Endpoints(FOR_EVER, OK)) as s,
    ):
        await s.save_webhook()

        async def test() -> None:
            with pytest.raises(Crashed):
                await s.send_test()

        nursery.start_soon(test)
        await until(1)
    assert trio.current_time() < 12
