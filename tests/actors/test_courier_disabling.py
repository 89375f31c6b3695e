"""Ten failures in a row disable an endpoint."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.maintenance.chores import REPAIR_S
from pgs.domain.accounts import Webhook
from pgs.storage import accounts
from tests.actors.account_changes import events_of
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, OK, OTHER, URL, Answer, Endpoints
from tests.actors.ready_core import at, until
from tests.virtual import Faults

DISABLED = ("platform", {"environment": "test", "consecutiveFailures": 10})


async def test_the_tenth_failed_nudge_in_a_row_disables_the_endpoint(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(GONE), list[str]()
    async with core_with_endpoint(tmp_path, endpoints, on_event=counted.append) as s:
        await until(100)
        await s.fail_nudges(9)
        assert await s.webhook() == Webhook(URL, True, 9, at(0), at(0), None)
        assert s.account().webhook_on == {"test"}
        await until(200)
        await s.fail_nudges(1)
        assert await s.webhook() == Webhook(URL, False, 10, at(0), at(0), at(200))
        assert s.account().webhook_on == frozenset()
        assert events_of(s, "webhook.disabled") == [(*DISABLED, at(200))]
        assert await accounts.read_account(s.reader, "acme") == s.account()
        await s.fail_nudges(5)
        await until(400)
        assert len(endpoints.posts) == len(await s.attempts()) == 10
        assert (await s.failures(), len(events_of(s, "webhook.disabled"))) == (10, 1)
        assert counted.count("webhook_disabled") == 1


async def test_ten_nudges_of_three_tries_each_are_thirty_calls(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        for number in range(12):
            s.nudge()
            await until(10 * (number + 1))
        assert len(endpoints.posts) == 30
        assert not (await s.webhook()).enabled


async def test_one_delivered_nudge_restarts_the_count(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(*[GONE] * 9, OK, *[GONE] * 9, OK)) as s:
        await s.fail_nudges(19)
        assert ((await s.webhook()).enabled, await s.failures()) == (True, 9)
        await s.fail_nudges(1)
        assert await s.failures() == 0


async def test_the_failures_of_two_environments_are_counted_separately(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.save_webhook(OTHER, "live")
        await s.fail_nudges(6)
        for _ in range(6):
            s.nudge(environment="live")
            await trio.sleep(0.01)
        assert (await s.failures(), await s.failures("live")) == (6, 6)
        await s.fail_nudges(4)
        assert ((await s.webhook()).enabled, (await s.webhook("live")).enabled) == (False, True)
        assert s.account().webhook_on == {"live"}


async def test_the_tenth_failure_cuts_the_nudges_in_flight_and_their_outcomes_do_not_count(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(*[GONE] * 9, DOWN, Answer(200, 3.0), Answer(404, 3.0), GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.fail_nudges(9)
        for name in ("mat_between_tries", "mat_landing_late", "mat_failing_late", "mat_the_tenth"):
            s.nudge(name)
            await trio.sleep(0.01)
        await until(60)
        assert [attempt.match_id for attempt in (await s.attempts())[3::-1]] == [
            "mat_between_tries",
            "mat_the_tenth",
            "mat_landing_late",
            "mat_failing_late",
        ]
        assert len(endpoints.posts) == 13
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)


async def test_waiting_nudges_are_dropped_when_the_endpoint_is_disabled(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(404, 0.5))
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.nudge(times=100)
        await until(60)
        # Eight fail together, then eight more; among those are the ninth and the tenth failure.
        assert len(endpoints.posts) == 16
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)
        await s.save_webhook()
        s.nudge()
        await until(120)
        assert len(endpoints.posts) == 17


async def test_the_endpoint_is_disabled_together_with_its_event_or_not_at_all(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, endpoints = Faults(), Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints, faults=faults) as s:
        await s.fail_nudges(9)
        faults.fail("insert into event")
        await s.fail_nudges(1)
        assert (
            (await s.webhook()).enabled,
            await s.failures(),
            (await s.webhook()).disabled_at,
        ) == (
            True,
            10,
            None,
        )
        assert s.account().webhook_on == {"test"}
        await s.fail_nudges(3)  # nothing is sent though the row says that it is on
        assert len(endpoints.posts) == 10
        assert (await s.send_test()).reason == "webhook_not_enabled"
        faults.heal()
        s.nudge()  # the next nudge makes the courier tell the account again
        await trio.sleep(0.01)
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)
        assert [event[:2] for event in events_of(s, "webhook.disabled")] == [DISABLED]


@pytest.mark.parametrize("restarts", [True, False])
async def test_a_disabling_that_was_lost_is_repeated_without_a_further_nudge(
    restarts: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with core_with_endpoint(tmp_path, Endpoints(GONE), faults=faults) as s:
        await s.save_webhook(OTHER, "live")
        await s.fail_nudges(9)
        faults.fail("insert into event")
        await s.fail_nudges(1)
        faults.heal()
        assert (await s.webhook()).enabled
        if not restarts:
            await until(REPAIR_S + 1)
            assert ((await s.webhook()).enabled, (await s.webhook()).disabled_at) == (
                False,
                at(int(REPAIR_S)),
            )
            assert [event[:2] for event in events_of(s, "webhook.disabled")] == [DISABLED]
            return
    async with courier_core(tmp_path, Endpoints(GONE)) as s:
        await trio.sleep(0.01)
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)
        assert (await s.webhook()).disabled_at is not None
        assert [event[:2] for event in events_of(s, "webhook.disabled")] == [DISABLED]
        assert s.account().webhook_on == {"live"}
        assert await s.failures("live") == 0


async def test_a_run_of_nine_failures_continues_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(GONE)) as s:
        await s.fail_nudges(9)
    async with courier_core(tmp_path, Endpoints(GONE)) as s:
        assert ((await s.webhook()).enabled, await s.failures()) == (True, 9)
        await s.fail_nudges(1)
        assert not (await s.webhook()).enabled
