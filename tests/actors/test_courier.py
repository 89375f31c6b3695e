"""One nudge: when its tries are made, what they send, how they are logged, and when they count."""

from pathlib import Path

import msgspec
import pytest
from trio.testing import MockClock

from pgs.domain.ids import ATTEMPT, NUDGE, is_id
from tests.actors.account_changes import events_of
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, HUNG, OK, URL, Answer, Endpoints
from tests.actors.ready_core import at, until
from tests.virtual import TrioClock


@pytest.mark.parametrize(
    ("answers", "times"),
    [
        ([OK], [0]),
        ([DOWN, OK], [0, 1]),
        ([DOWN, DOWN, OK], [0, 1, 5]),
        ([DOWN], [0, 1, 5]),
        ([HUNG], [0, 5, 10]),  # each try runs past the time of the next one, which follows at once
        ([Answer(500, 3.0), DOWN], [0, 3, 5]),
        ([Answer(500, 0.5), Answer(500, 4.5), DOWN], [0, 1, 5.5]),
        ([Answer(500, 0.999), Answer(500, 3.999), DOWN], [0, 1, 5]),
        ([DOWN, GONE, OK], [0, 1]),
        ([GONE], [0]),
    ],
)
async def test_tries_begin_0_1_and_5_seconds_after_the_first_or_when_the_one_before_ends(
    answers: list[Answer], times: list[float], tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*answers)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge()
        await until(120)
        assert endpoints.times == times
        assert [attempt.try_number for attempt in reversed(await s.attempts())] == list(
            range(1, len(times) + 1)
        )
        assert [attempt.at for attempt in reversed(await s.attempts())] == [
            at(int(time)) for time in times
        ]
        assert await s.failures() == (0 if endpoints.ended[-1][2] == 200 else 1)


async def test_all_tries_send_the_bytes_and_the_signature_of_the_first_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN)
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        await until(3.7)
        s.nudge()
        await until(60)
        first, second, third = endpoints.posts
        assert first.body == b'{"type":"results.available","partnerId":"acme","at":%d}' % at(3)
        assert first.signature.startswith(f"t={at(3)},v1=")
        assert first.signed_by(secret)
        assert (
            (first.url, first.body, first.signature)
            == (URL, second.body, second.signature)
            == (URL, third.body, third.signature)
        )
        assert first.nudge is third.nudge


async def test_each_nudge_is_signed_with_its_own_time(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(OK)
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        for second in (2, 400):
            await until(second)
            s.nudge()
        await until(401)
        assert [msgspec.json.decode(post.body)["at"] for post in endpoints.posts] == [
            at(2),
            at(400),
        ]
        assert all(post.signed_by(secret) for post in endpoints.posts)


DELIVERED = [200, 201, 202, 204, 206, 226, 299]
RETRIED = [None, 100, 101, 103, 408, 429, 500, 501, 502, 503, 504, 511, 599]
STOPPED = [
    300,
    301,
    302,
    303,
    304,
    307,
    308,
    399,
    400,
    401,
    403,
    404,
    405,
    407,
    409,
    410,
    413,
    421,
    422,
    425,
    428,
    430,
    451,
    499,
    600,
    999,
]


@pytest.mark.parametrize(
    ("status", "tries", "delivered"),
    [
        *((status, 1, True) for status in DELIVERED),
        *((status, 3, False) for status in RETRIED),
        *((status, 1, False) for status in STOPPED),
    ],
)
@pytest.mark.usefixtures("rare_chores")
async def test_a_status_decides_whether_a_nudge_is_delivered_tried_again_or_given_up(
    status: int | None, tries: int, delivered: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(status))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge()
        await until(60)
        assert len(endpoints.posts) == tries
        assert [(attempt.status_code, attempt.delivered) for attempt in await s.attempts()] == [
            (status, delivered)
        ] * tries
        assert await s.failures() == (0 if delivered else 1)


async def test_every_try_is_logged_with_its_outcome_the_newest_first(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(HUNG, Answer(503, 0.25, "busy"), Answer(200, 0.125, "thanks"))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await until(2)
        s.nudge("mat_7")
        await until(60)
        third, second, first = await s.attempts()
        assert [(a.seq, a.try_number, a.at) for a in (first, second, third)] == [
            (1, 1, at(2)),
            (2, 2, at(7)),
            (3, 3, at(7)),
        ]
        assert [(a.delivered, a.status_code, a.error) for a in (first, second, third)] == [
            (False, None, "no response within 5 seconds"),
            (False, 503, None),
            (True, 200, None),
        ]
        assert [(a.duration_ms, a.response_body) for a in (first, second, third)] == [
            (5000, ""),
            (250, "busy"),
            (125, "thanks"),
        ]
        assert {(a.match_id, a.nudge_id, a.test) for a in (first, second, third)} == {
            ("mat_7", first.nudge_id, False)
        }
        assert is_id(NUDGE, first.nudge_id)
        assert all(is_id(ATTEMPT, a.attempt_id) for a in (first, second, third))
        assert len({a.attempt_id for a in (first, second, third)}) == 3


async def test_a_failed_nudge_counts_once_after_any_number_of_tries_and_a_delivery_clears_the_count(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN, DOWN, DOWN, GONE, DOWN, GONE, DOWN, DOWN, OK, GONE)
    runs = []
    async with core_with_endpoint(tmp_path, endpoints) as s:
        for number in range(5):
            s.nudge()
            await until(20 * (number + 1))
            runs.append(await s.failures())
        assert runs == [1, 2, 3, 0, 1]
        assert (await s.webhook()).enabled
        assert events_of(s, "webhook.disabled") == []


async def test_the_run_of_failures_and_the_log_continue_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    for run in range(3):
        async with courier_core(tmp_path, Endpoints(GONE)) as s:
            if run == 0:
                await s.save_webhook()
            s.nudge()
            s.nudge()
            await until(10 * (run + 1))
            assert await s.failures() == 2 * (run + 1)
            assert [attempt.seq for attempt in await s.attempts()] == list(
                range(2 * (run + 1), 0, -1)
            )


async def test_a_nudge_carries_the_real_time_after_the_clock_was_put_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(OK)
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        wall = s.parts.clock
        assert isinstance(wall, TrioClock)
        wall.skip(2 * 86_400)
        wall.behind_s = 2 * 86_400
        s.nudge()
        await until(60)
        (post,) = endpoints.posts
        assert post.body == b'{"type":"results.available","partnerId":"acme","at":%d}' % at(0)
        assert post.signature.startswith(f"t={at(0)},v1=")
        assert post.signed_by(secret)
