"""Test events: when one may be sent, what it sends, and what it does not change."""

from pathlib import Path

import apsw
import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.delivery.lone_tries import seconds_until_test
from pgs.actors.kernel.mail import Crashed
from pgs.domain.errors import refuse
from pgs.domain.ids import ATTEMPT, NUDGE, is_id
from pgs.storage.attempts import Attempt
from tests.actors.account_changes import events_of
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, HUNG, OK, URL, Answer, Endpoints
from tests.actors.ready_core import at, until
from tests.virtual import Faults


async def test_a_test_event_is_one_signed_try_and_the_reply_is_its_attempt(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(202, 0.25, "thanks"))
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        await until(3)
        attempt = await s.send_test()
        assert isinstance(attempt, Attempt)
        assert await s.attempts() == [attempt]
        assert (attempt.at, attempt.try_number, attempt.delivered, attempt.status_code) == (
            at(3),
            1,
            True,
            202,
        )
        assert (attempt.duration_ms, attempt.response_body, attempt.error) == (250, "thanks", None)
        assert (attempt.match_id, attempt.test) == (None, True)
        assert is_id(ATTEMPT, attempt.attempt_id)
        assert is_id(NUDGE, attempt.nudge_id)
        (post,) = endpoints.posts
        assert post.url == URL
        assert msgspec.json.decode(post.body) == {
            "type": "results.available",
            "partnerId": "acme",
            "at": at(3),
        }
        assert post.signed_by(secret)


@pytest.mark.parametrize("answer", [DOWN, GONE, HUNG])
async def test_a_failed_test_event_is_not_tried_again_and_is_answered_too(
    answer: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(answer)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        with trio.fail_after(5.1):
            attempt = await s.send_test()
        assert (attempt.delivered, attempt.status_code) == (False, answer.status)
        await until(60)
        assert len(endpoints.posts) == 1
        assert await s.failures() == 0


async def test_test_events_neither_count_towards_the_ten_failures_nor_reset_them(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[GONE] * 12, OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        for number in range(12):
            await until(20 * number)
            assert not (await s.send_test()).delivered
        assert await s.failures() == 0
        endpoints.answers[URL] = [GONE]
        s.nudge(times=9)
        await until(300)
        assert await s.failures() == 9
        endpoints.answers[URL] = [OK, GONE]
        assert (await s.send_test()).delivered
        assert await s.failures() == 9
        s.nudge()
        await until(310)
        assert await s.failures() == 10
        assert len(events_of(s, "webhook.disabled")) == 1


async def test_a_test_event_is_refused_within_ten_seconds_of_the_last_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.save_webhook(environment="live")
        await until(0.9)
        assert isinstance(await s.send_test(), Attempt)
        for moment in (1, 5, 10.5, 10.899):
            await until(moment - 0.0002)
            assert await s.send_test() == refuse("test_event_too_soon")
        assert isinstance(await s.send_test("live"), Attempt)
        await until(10.9)
        # Ten seconds after the event was sent. A refusal does not begin a new wait.
        assert isinstance(await s.send_test(), Attempt)
        assert len(endpoints.posts) == 3


async def test_of_several_test_events_at_once_one_is_sent(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, answers = Endpoints(HUNG), list[object]()

    async with core_with_endpoint(tmp_path, endpoints) as s:

        async def test() -> None:
            answers.append(await s.send_test())

        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(test)
        assert answers[:3] == [refuse("test_event_too_soon")] * 3
        assert isinstance(answers[3], Attempt)
        assert len(endpoints.posts) == 1


async def test_ten_seconds_are_kept_across_a_restart_and_a_saving(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await until(5)
        await s.send_test()
    async with courier_core(tmp_path, endpoints) as s:
        assert await s.send_test() == refuse("test_event_too_soon")
        s.nudge()  # newer than the test in the log
        await s.save_webhook()
        await until(14.5)
        assert await s.send_test() == refuse("test_event_too_soon")
        await until(15)
        assert isinstance(await s.send_test(), Attempt)


async def test_a_test_event_needs_an_endpoint_that_is_set_and_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with courier_core(tmp_path, endpoints) as s:
        assert await s.send_test() == refuse("webhook_not_configured")
        await s.save_webhook(environment="live")
        assert await s.send_test() == refuse("webhook_not_configured")
        await s.save_webhook()
        await s.switch_off_webhook()
        assert await s.send_test() == refuse("webhook_not_enabled")
        await s.save_webhook()
        s.nudge(times=10)
        await until(10)
        assert await s.send_test() == refuse("webhook_not_enabled")
        await s.save_webhook()
        await s.switch(False)
        assert await s.send_test() == refuse("account_inactive")
        await s.switch(True)
        sent = len(endpoints.posts)
        assert isinstance(await s.send_test(), Attempt)
        assert len(endpoints.posts) == sent + 1


async def test_a_test_event_is_sent_even_while_eight_nudges_are_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[HUNG] * 8, OK)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=20)
        await until(1)
        with trio.fail_after(0.1):
            assert (await s.send_test()).delivered


async def test_an_endpoint_that_is_switched_off_meanwhile_still_answers_its_test(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(200, 3.0))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        async with trio.open_nursery() as nursery:

            async def off() -> None:
                await until(1)
                await s.switch_off_webhook()

            nursery.start_soon(off)
            assert (await s.send_test()).delivered
        assert await s.failures() == 0


async def test_a_test_event_that_fails_inside_the_service_is_answered(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints()
    async with core_with_endpoint(tmp_path, endpoints, faults=faults) as s:
        endpoints.broken = ValueError("a fault of ours")
        with trio.fail_after(1), pytest.raises(Crashed):
            await s.send_test()
        endpoints.broken = None
        await until(20)
        faults.fail("insert into attempt")
        with trio.fail_after(1), pytest.raises(Crashed):
            await s.send_test()
        faults.heal()
        await until(40)
        assert isinstance(await s.send_test(), Attempt)
        assert len(await s.attempts()) == 1
        assert len(s.parts.deliveries) == 0


async def test_a_courier_that_broke_still_knows_of_a_test_event_in_flight(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, faults = Endpoints(Answer(200, 4.0)), Faults()
    async with (
        courier_core(tmp_path, endpoints, faults=faults) as s,
        trio.open_nursery() as nursery,
    ):
        await s.save_webhook()
        nursery.start_soon(_crashes, s)
        await until(1)
        faults.fail("commit", apsw.IOError("disk I/O error"))
        endpoints.answers[URL] = [OK]
        s.nudge()  # logging it breaks the courier
        await until(2)
        faults.heal()
        assert await s.send_test() == refuse("test_event_too_soon")
        await until(9)
        assert await s.send_test() == refuse("test_event_too_soon")
        await until(10)
        assert isinstance(await s.send_test(), Attempt)


async def _crashes(s: CourierCore) -> None:
    with pytest.raises(Crashed):
        await s.send_test()


async def test_a_refusal_as_too_soon_says_how_long_to_wait(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(200, 4.0))
    async with courier_core(tmp_path, endpoints) as s, trio.open_nursery() as nursery:
        await s.save_webhook()
        nursery.start_soon(s.send_test)
        # At 1 s it is still in flight, and not in the log yet.
        for moment, wait in ((1, 10), (5, 6), (9.5, 2)):
            await until(moment)
            assert await s.send_test() == refuse("test_event_too_soon")
            assert await seconds_until_test(s.reader, "acme", "test", s.parts.clock.now()) == wait
        await until(9.5 + 2)
        assert isinstance(await s.send_test(), Attempt)
        assert await seconds_until_test(s.reader, "acme", "live", s.parts.clock.now()) == 10
