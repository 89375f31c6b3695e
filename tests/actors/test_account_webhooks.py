"""A partner's webhooks: the row, the event and the reply of each change agree."""

import json
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command, Crashed
from pgs.actors.messages.account.webhooks import DisableWebhook, RotateWebhookSecret, SaveWebhook
from pgs.domain.accounts import Webhook
from pgs.domain.errors import refuse
from pgs.http.outbound.tries import Outbound
from pgs.storage import accounts as rows
from pgs.storage.webhooks import find_webhook
from tests.actors.account_changes import Change, events_of, nothing
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import DOWN, OTHER, URL, Endpoints
from tests.actors.people import ask
from tests.actors.raw_rows import select, write
from tests.actors.ready_core import at, ready_core, until
from tests.http.internet import client_context, open_internet
from tests.virtual import Faults

CASES = json.loads(
    (Path(__file__).parents[1] / "cases" / "ssrf_cases.json").read_text(encoding="utf-8")
)

REGISTER = [row for row in CASES if row["stage"] == "register"]


async def test_each_reply_shows_the_endpoint_as_its_row_now_is(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with courier_core(tmp_path, Endpoints()) as s:
        await until(5)
        saved = await ask(s, SaveWebhook("ada", "live", URL))
        assert saved.webhook == await s.webhook("live") == Webhook(URL, True, 0, at(5), at(5), None)
        assert len(saved.secret) == 6 + 43
        await until(8)
        rotated = await ask(s, RotateWebhookSecret("bob", "live"))
        assert (
            rotated.webhook == await s.webhook("live") == Webhook(URL, True, 0, at(5), at(8), None)
        )
        assert rotated.secret != saved.secret
        await until(9)
        off = await ask(s, DisableWebhook("ada", "live"))
        assert off == await s.webhook("live") == Webhook(URL, False, 0, at(5), at(8), at(9))
        again = await ask(s, SaveWebhook("bob", "live", OTHER))
        assert (
            again.webhook == await s.webhook("live") == Webhook(OTHER, True, 0, at(5), at(8), None)
        )
        assert again.secret is None
        assert events_of(s, "webhook.saved") == [
            ("ada", {"environment": "live", "url": URL}, at(5)),
            ("bob", {"environment": "live", "url": OTHER}, at(9)),
        ]
        assert events_of(s, "webhook.secret_rotated") == [("bob", {"environment": "live"}, at(8))]
        assert events_of(s, "webhook.disabled") == [
            ("ada", {"environment": "live", "consecutiveFailures": 0}, at(9))
        ]


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.acme-games.com/",
        "https://localhost/x",
        "https://93.184.216.34/",
        "",
        "https://hooks.example/",
    ],
)
async def test_a_url_that_breaks_the_rules_changes_nothing(
    url: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with core_with_endpoint(tmp_path, Endpoints()) as s:
        before, revision = await s.webhook(), s.account().revision
        assert await ask(s, SaveWebhook("ops", "test", url)) == refuse("invalid_webhook_url")
        assert await ask(s, SaveWebhook("ops", "live", url)) == refuse("invalid_webhook_url")
        assert (await s.webhook(), s.account().revision) == (before, revision)


async def test_every_registration_row_of_the_case_table_is_saved_or_refused_and_looks_nothing_up(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with (
        open_internet() as internet,
        courier_core(tmp_path, Outbound(client_context())) as s,
    ):
        for row in REGISTER:
            reply = await ask(s, SaveWebhook("ops", "test", row["input"]))
            if row["expect"] == "accept":
                assert reply.webhook.enabled, row
            else:
                assert reply == refuse("invalid_webhook_url"), row
        await until(30)
        assert (internet.lookups, internet.connects) == ([], [])
    assert {row["expect"] for row in REGISTER} == {"accept", "reject"}


async def test_rows_and_memory_agree_on_which_endpoints_are_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with courier_core(tmp_path, Endpoints()) as s:
        for change, on in (
            (s.save_webhook(), {"test"}),
            (s.save_webhook(environment="live"), {"test", "live"}),
            (s.switch_off_webhook(), {"live"}),
            (s.switch_off_webhook(), {"live"}),
            (s.switch_off_webhook("live"), set()),
            (s.save_webhook(), {"test"}),
        ):
            await change
            assert s.account().webhook_on == on
            assert await rows.read_account(s.reader, "acme") == s.account()
            assert (await rows.read_accounts(s.reader))["acme"] == s.account()
    async with courier_core(tmp_path, Endpoints()) as s:
        assert s.account().webhook_on == {"test"}


@pytest.mark.parametrize("text", ["insert into event", "update partner", "update webhook"])
@pytest.mark.parametrize(
    "command",
    [
        SaveWebhook("ops", "test", OTHER),
        RotateWebhookSecret("ops", "test"),
        DisableWebhook("ops", "test"),
    ],
)
async def test_a_change_is_written_whole_or_not_at_all(
    command: Command[Any], text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with core_with_endpoint(tmp_path, Endpoints(), faults=faults) as s:
        stored = "select * from webhook"
        before, revision = select(s, stored), s.account().revision
        faults.fail(text)
        with pytest.raises(Crashed):
            await ask(s, command)
        faults.heal()
        assert select(s, stored) == before
        assert s.account().revision == revision
        assert s.account().webhook_on == {"test"}


async def test_an_account_switched_off_without_the_actors_ends_the_tries_still_due(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN)
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await until(58)
        s.nudge()
        await until(59.5)
        write(s, "update partner set active = 0, revision = revision + 1 where partner_id = 'acme'")
        await until(120)  # the registry read it at 60, before the third try
        assert len(endpoints.posts) == len(await s.attempts()) == 2
        assert (await s.webhook()).consecutive_failures == 0


async def test_the_first_saving_of_a_webhook_mints_its_secret_and_later_savings_keep_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with Change(s, ("ops", "webhook.saved", {"environment": "test", "url": URL})):
            saved = await ask(s, SaveWebhook("ops", "test", URL))
        webhook, secret = saved.webhook, saved.secret
        assert (webhook.url, webhook.enabled, webhook.consecutive_failures, webhook.created_at) == (
            URL,
            True,
            0,
            at(0),
        )
        assert len(secret) == len("whsec_") + 43
        sealed = select(s, "select sealed_secret from webhook")
        await until(9)
        other = "https://hooks.acme-games.com/other"
        async with Change(s, ("ops", "webhook.saved", {"environment": "test", "url": other})):
            saved = await ask(s, SaveWebhook("ops", "test", other))
        assert saved.secret is None
        again = saved.webhook
        assert again == await find_webhook(s.reader, "acme", "test")
        assert (again.url, again.created_at, again.secret_rotated_at) == (other, at(0), at(0))
        assert select(s, "select sealed_secret from webhook") == sealed
        assert await find_webhook(s.reader, "acme", "live") is None
        async with nothing(s):
            assert await ask(s, SaveWebhook("ops", "live", "https://localhost/x")) == refuse(
                "invalid_webhook_url"
            )
