"""Outcomes and commands that arrive after somebody else has changed the rows."""

from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret
from pgs.domain.members import PLATFORM
from pgs.storage import webhooks
from tests.actors.endpoints import (
    GONE,
    OK,
    OTHER,
    Answer,
    Endpoints,
    ask,
    events,
    fail,
    failures,
    log,
    nudge,
    save,
    webhook,
)
from tests.actors.ready_core import at, ready_core, until
from tests.virtual import seed_scheduler


@pytest.mark.parametrize("late", [GONE, OK])
async def test_an_outcome_after_a_saving_that_the_courier_missed_does_not_count(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(late.status, 2.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 2)
        nudge(s)
        await until(1)
        await s.write_past_the_actors(webhooks.save_url("acme", "test", OTHER))
        await until(3)
        assert (await failures(s), len(await log(s))) == (0, 3)
        await fail(s, 1)
        assert (await failures(s), endpoints.posts[-1].url) == (1, OTHER)


@pytest.mark.parametrize("late", [GONE, OK])
async def test_an_outcome_after_a_disabling_that_the_courier_missed_does_not_count(
    late: Answer, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, GONE, Answer(late.status, 2.0), GONE)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await fail(s, 2)
        nudge(s)
        await until(1)
        await s.write_past_the_actors(webhooks.disable("acme", "test", at(1)))
        await until(3)
        assert (await failures(s), len(await log(s))) == (2, 3)
        await fail(s, 1)
        assert len(endpoints.posts) == 3


async def test_an_endpoint_is_not_disabled_for_a_run_that_a_saving_has_cleared(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await save(s)
        await save(s)
        answer = await ask(s, DisableWebhook(PLATFORM, "test", 1))
        assert answer == await webhook(s)
        assert (await webhook(s)).enabled
        assert events(s, "webhook.disabled") == []
        await ask(s, DisableWebhook(PLATFORM, "test", 2))
        assert not (await webhook(s)).enabled


async def test_a_missing_webhook_can_be_neither_rotated_nor_switched_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await save(s, environment="live")
        revision = s.account().revision
        for command in (RotateWebhookSecret("ops", "test"), DisableWebhook("ops", "test")):
            assert (await ask(s, command)).reason == "webhook_not_configured"
        assert s.account().revision == revision


async def test_an_endpoint_that_the_registry_shows_as_off_is_sent_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        s.parts.registry.publish(msgspec.structs.replace(s.account(), webhook_on=frozenset()))
        nudge(s)
        await until(1)
        assert endpoints.posts == []


@pytest.mark.parametrize("seed", range(16))
async def test_a_saving_at_the_moment_of_the_tenth_failure_leaves_the_endpoint_on(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    seed_scheduler(seed)
    async with ready_core(tmp_path, outbound=Endpoints(*[GONE] * 9, Answer(404, 1.0), OK)) as s:
        await save(s)
        await fail(s, 9)
        nudge(s)
        began = trio.current_time()
        await trio.sleep_until(began + 1.0)
        # The saving falls before the count, or between the count and the disabling.
        for _ in range(seed % 4):
            await trio.lowlevel.checkpoint()
        await save(s)
        await trio.sleep(0.1)
        assert ((await webhook(s)).enabled, await failures(s)) == (True, 0)
        assert s.account().webhook_on == {"test"}
