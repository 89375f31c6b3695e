"""Outcomes and commands that arrive after somebody else has changed the rows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret
from pgs.domain.members import PLATFORM
from pgs.storage import webhooks
from pgs.storage.transactions import Stmt
from tests.actors.account_changes import events_of
from tests.actors.courier_core import CourierCore, core_with_endpoint, courier_core
from tests.actors.endpoints import GONE, OK, OTHER, Answer, Endpoints
from tests.actors.people import ask
from tests.actors.ready_core import at, until
from tests.virtual import seed_scheduler


@asynccontextmanager
async def changed_in_flight(
    folder: Path, late: Answer, change: Stmt
) -> AsyncIterator[tuple[CourierCore, Endpoints]]:
    """Open a core whose courier has missed a change of its endpoint's row.

    Two nudges have failed, and a third was in flight when the row changed. It has ended since, with
    the answer `late`.
    """
    endpoints = Endpoints(GONE, GONE, Answer(late.status, 2.0), GONE)
    async with courier_core(folder, endpoints) as s:
        await s.save_webhook()
        await s.fail_nudges(2)
        s.nudge()
        await until(1)
        await s.write_without_the_actors(change)
        await until(3)
        assert len(await s.attempts()) == 3
        yield s, endpoints


@pytest.mark.parametrize("late", [GONE, OK])
async def test_an_outcome_after_a_saving_that_the_courier_missed_does_not_count(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    saving = webhooks.save_url("acme", "test", OTHER)
    async with changed_in_flight(tmp_path, late, saving) as (s, endpoints):
        assert await s.failures() == 0
        await s.fail_nudges(1)
        assert (await s.failures(), endpoints.posts[-1].url) == (1, OTHER)


@pytest.mark.parametrize("late", [GONE, OK])
async def test_an_outcome_after_a_disabling_that_the_courier_missed_does_not_count(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    disabling = webhooks.disable("acme", "test", at(1))
    async with changed_in_flight(tmp_path, late, disabling) as (s, endpoints):
        assert await s.failures() == 2
        await s.fail_nudges(1)
        assert len(endpoints.posts) == 3


async def test_an_endpoint_is_not_disabled_for_a_run_that_a_saving_has_cleared(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        await s.save_webhook()
        answer = await ask(s, DisableWebhook(PLATFORM, "test", 1))
        assert answer == await s.webhook()
        assert (await s.webhook()).enabled
        assert events_of(s, "webhook.disabled") == []
        await ask(s, DisableWebhook(PLATFORM, "test", 2))
        assert not (await s.webhook()).enabled


async def test_a_missing_webhook_can_be_neither_rotated_nor_switched_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with courier_core(tmp_path, Endpoints()) as s:
        await s.save_webhook(environment="live")
        revision = s.account().revision
        for command in (RotateWebhookSecret("ops", "test"), DisableWebhook("ops", "test")):
            assert (await ask(s, command)).reason == "webhook_not_configured"
        assert s.account().revision == revision


async def test_an_endpoint_that_the_registry_shows_as_off_is_sent_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with core_with_endpoint(tmp_path, endpoints) as s:
        s.parts.registry.publish(msgspec.structs.replace(s.account(), webhook_on=frozenset()))
        s.nudge()
        await until(1)
        assert endpoints.posts == []


@pytest.mark.parametrize("seed", range(16))
async def test_a_saving_at_the_moment_of_the_tenth_failure_leaves_the_endpoint_on(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    seed_scheduler(seed)
    async with core_with_endpoint(tmp_path, Endpoints(*[GONE] * 9, Answer(404, 1.0), OK)) as s:
        await s.fail_nudges(9)
        s.nudge()
        began = trio.current_time()
        await trio.sleep_until(began + 1.0)
        # The saving falls before the count, or between the count and the disabling.
        for _ in range(seed % 4):
            await trio.lowlevel.checkpoint()
        await s.save_webhook()
        await trio.sleep(0.1)
        assert ((await s.webhook()).enabled, await s.failures()) == (True, 0)
        assert s.account().webhook_on == {"test"}
