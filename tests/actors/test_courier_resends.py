"""Nudges that are sent again: one try, which changes nothing about the match's own nudges."""

from pathlib import Path

import apsw
import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.domain.errors import refuse
from pgs.domain.ids import NUDGE, is_id
from pgs.storage.attempts import Attempt
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, HUNG, OK, URL, Answer, Endpoints
from tests.actors.ready_core import until
from tests.virtual import Faults, TrioClock


async def test_a_resend_is_one_signed_try_about_the_match_with_ids_of_its_own(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, Answer(202, 0.25, "thanks"))
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        s.nudge("mat_7")
        await until(3)
        (first,) = await s.attempts()
        attempt = await s.resend("mat_7")
        assert isinstance(attempt, Attempt)
        assert await s.attempts() == [attempt, first]
        assert (attempt.match_id, attempt.resend, attempt.test) == ("mat_7", True, False)
        assert (attempt.try_number, attempt.delivered, attempt.status_code) == (1, True, 202)
        assert is_id(NUDGE, attempt.nudge_id)
        assert attempt.nudge_id != first.nudge_id
        assert not first.resend
        assert endpoints.posts[1].signed_by(secret)


async def test_a_resend_is_signed_at_the_machines_time_even_after_that_time_went_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Partners compare the time of a signature with their own clocks."""
    endpoints = Endpoints(OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        assert isinstance(s.parts.clock, TrioClock)
        s.parts.clock.behind_s = 3600
        attempt = await s.resend()
        signed_at = msgspec.json.decode(endpoints.posts[-1].body)["at"]
        assert signed_at == s.parts.clock.real()
        assert attempt.at == signed_at + 3600


@pytest.mark.parametrize("answer", [DOWN, GONE, HUNG])
async def test_a_failed_resend_is_not_tried_again_and_is_answered_too(
    answer: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(answer)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        attempt = await s.resend()
        assert (attempt.delivered, attempt.status_code) == (False, answer.status)
        await until(60)
        assert len(endpoints.posts) == 1
        assert len(s.parts.deliveries) == 0


async def test_resends_neither_count_towards_the_ten_failures_nor_reset_them(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.fail_nudges(9)
        assert not (await s.resend()).delivered
        assert await s.failures() == 9
        endpoints.answers[URL] = [OK]
        assert (await s.resend()).delivered
        assert await s.failures() == 9


async def test_a_resend_leaves_the_tries_of_the_matchs_own_nudge_as_they_are(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Its own nudge fails at first. That a resend is delivered meanwhile does not end it."""
    endpoints = Endpoints(DOWN, OK, DOWN, OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge("mat_7")
        await until(0.5)
        assert (await s.resend("mat_7")).delivered
        await until(20)
        own = [attempt for attempt in await s.attempts() if not attempt.resend]
        assert [(one.try_number, one.delivered) for one in own] == [
            (3, True),
            (2, False),
            (1, False),
        ]
        assert len({one.nudge_id for one in own}) == 1


async def test_a_resend_is_sent_even_while_eight_nudges_are_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[HUNG] * 8, OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=20)
        await until(1)
        with trio.fail_after(0.1):
            assert (await s.resend()).delivered


async def test_a_resend_is_for_an_endpoint_and_an_account_that_are_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        assert await s.resend() == refuse("webhook_not_configured")
        await s.save_webhook()
        await s.switch_off_webhook()
        assert await s.resend() == refuse("webhook_not_enabled")
        await s.save_webhook()
        await s.switch(False)
        assert await s.resend() == refuse("account_inactive")
        await s.switch(True)
        assert isinstance(await s.resend(), Attempt)
        assert len(endpoints.posts) == 1


async def test_a_courier_that_broke_takes_no_slot_for_a_resend_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """A resend has a match, as nudges in flight have. It ends by itself and is not sent again."""
    endpoints, faults = Endpoints(*[Answer(200, 4.0)] * 8), Faults()
    async with (
        courier_core(tmp_path, endpoints, faults=faults) as s,
        trio.open_nursery() as nursery,
    ):
        await s.save_webhook()
        for _ in range(8):
            nursery.start_soon(_ends, s)
        await until(1)
        faults.fail("commit", apsw.IOError("disk I/O error"))
        endpoints.answers[URL] = [OK]
        s.nudge("mat_8")  # logging it breaks the courier
        await until(2)
        faults.heal()
        s.nudge("mat_9")
        await until(3)  # before any resend has ended
        assert [(one.match_id, one.resend) for one in await s.attempts()] == [("mat_9", False)]
        await until(60)
        assert len(endpoints.posts) == 8 + 2
        assert len(s.parts.deliveries) == 0


async def _ends(s: CourierCore) -> None:
    with pytest.raises(Crashed):
        await s.resend()


async def test_nothing_is_sent_again_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.resend()
    async with courier_core(tmp_path, endpoints) as s:
        s.nudge("mat_2")
        await until(60)
        assert [(one.match_id, one.resend) for one in await s.attempts()] == [
            ("mat_2", False),
            ("mat_1", True),
        ]
        assert await s.failures() == 1


async def test_no_resend_begins_while_the_service_stops(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.parts.deliveries.begin_drain()
        with pytest.raises(Overloaded):
            await s.resend()
        assert endpoints.posts == []
