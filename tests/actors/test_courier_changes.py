"""What saving, switching off and rotating do to an endpoint and to nudges in flight."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.webhooks import RotateWebhookSecret
from pgs.domain.accounts import Webhook
from tests.actors.account_changes import events_of
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, GONE, OK, OTHER, URL, Answer, Endpoints
from tests.actors.people import ask
from tests.actors.ready_core import at, until


async def test_saving_the_url_again_switches_on_clears_the_run_and_keeps_the_secret(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        await s.fail_nudges(10)
        await until(50)
        assert await s.save_webhook(OTHER) == ""
        assert await s.webhook() == Webhook(OTHER, True, 0, at(0), at(0), None)
        assert s.account().webhook_on == {"test"}
        s.nudge()
        await trio.sleep(0.01)
        assert endpoints.posts[-1].url == OTHER
        assert endpoints.posts[-1].signed_by(secret)
        assert await s.failures() == 1


async def test_saving_the_url_clears_a_run_short_of_ten(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(GONE)) as s:
        await s.fail_nudges(9)
        await s.save_webhook()
        assert await s.failures() == 0
        await s.fail_nudges(9)
        assert ((await s.webhook()).enabled, await s.failures()) == (True, 9)
        await s.fail_nudges(1)
        assert not (await s.webhook()).enabled


@pytest.mark.parametrize("how", ["saved", "switched off", "account off"])
async def test_saving_switching_off_and_an_inactive_account_end_the_tries_still_due(
    how: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, DOWN, Answer(404, 3.0), Answer(200, 4.0), GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.fail_nudges(1)
        for _ in range(3):  # one between its tries, one that will fail, one that will be delivered
            s.nudge()
        await until(0.5)
        assert len(endpoints.posts) == 4
        if how == "saved":
            await s.save_webhook()
        elif how == "switched off":
            await s.switch_off_webhook()
        else:
            await s.switch(False)
        await until(60)
        assert len(endpoints.posts) == 4
        assert [attempt.status_code for attempt in await s.attempts()] == [200, 404, 500, 404]
        assert await s.failures() == (0 if how == "saved" else 1)
        assert (await s.webhook()).disabled_at == (at(0) if how == "switched off" else None)
        if how == "account off":
            await s.switch(True)
        elif how == "switched off":
            await s.save_webhook()
        s.nudge()
        await until(61)
        assert len(endpoints.posts) == 5


async def test_switching_off_records_who_did_it_and_when(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints(GONE)) as s:
        await s.fail_nudges(4)
        await until(30)
        await s.switch_off_webhook()
        assert await s.webhook() == Webhook(URL, False, 4, at(0), at(0), at(30))
        assert events_of(s, "webhook.disabled") == [
            ("ops", {"environment": "test", "consecutiveFailures": 4}, at(30))
        ]
        await until(40)
        await s.switch_off_webhook()  # again: no change, no second entry
        assert (await s.webhook()).disabled_at == at(30)
        assert len(events_of(s, "webhook.disabled")) == 1


async def test_rotating_changes_only_the_secret_and_nudges_in_flight_keep_their_bytes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE, DOWN, DOWN, DOWN, OK)
    async with courier_core(tmp_path, endpoints) as s:
        old = await s.save_webhook()
        await s.fail_nudges(1)
        s.nudge()
        await until(2)
        new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        assert await s.webhook() == Webhook(URL, True, 1, at(0), at(2), None)
        assert new != old
        assert events_of(s, "webhook.secret_rotated") == [("ops", {"environment": "test"}, at(2))]
        await until(20)
        assert await s.failures() == 2  # all three tries were made, and counted
        s.nudge()
        await until(21)
        under_way, after = endpoints.posts[1:4], endpoints.posts[4]
        assert len({(post.body, post.signature) for post in under_way}) == 1
        assert under_way[0].signed_by(old)
        assert after.signed_by(new)
        assert not after.signed_by(old)


async def test_rotating_neither_switches_on_nor_clears_a_run(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.fail_nudges(10)
        await ask(s, RotateWebhookSecret("ops", "test"))
        assert ((await s.webhook()).enabled, await s.failures()) == (False, 10)
        await s.fail_nudges(1)
        assert len(endpoints.posts) == 10


async def test_a_waiting_nudge_is_signed_with_the_secret_at_its_sending(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(Answer(200, 2.0))
    async with courier_core(tmp_path, endpoints) as s:
        old = await s.save_webhook()
        s.nudge(times=9)
        await until(1)
        new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        await until(10)
        assert [post.signed_by(old) for post in endpoints.posts] == [True] * 8 + [False]
        assert endpoints.posts[8].signed_by(new)
