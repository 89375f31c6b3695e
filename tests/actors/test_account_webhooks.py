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
from tests.actors.endpoints import (
    DOWN,
    OTHER,
    URL,
    Endpoints,
    ask,
    events,
    log,
    nudge,
    save,
    switch_off,
    webhook,
)
from tests.actors.raw_rows import select, write
from tests.actors.ready_core import at, ready_core, until
from tests.http.internet import client_context, open_internet
from tests.virtual import Faults

CASES = json.loads(
    (Path(__file__).parents[1] / "cases" / "ssrf_cases.json").read_text(encoding="utf-8")
)
REGISTER = [row for row in CASES if row["stage"] == "register"]


async def test_an_answer_shows_the_endpoint_as_its_row_now_is(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await until(5)
        saved = await ask(s, SaveWebhook("ada", "live", URL))
        assert (
            saved.webhook == await webhook(s, "live") == Webhook(URL, True, 0, at(5), at(5), None)
        )
        assert len(saved.secret) == 6 + 43
        await until(8)
        rotated = await ask(s, RotateWebhookSecret("bob", "live"))
        assert (
            rotated.webhook == await webhook(s, "live") == Webhook(URL, True, 0, at(5), at(8), None)
        )
        assert rotated.secret != saved.secret
        await until(9)
        off = await ask(s, DisableWebhook("ada", "live"))
        assert off == await webhook(s, "live") == Webhook(URL, False, 0, at(5), at(8), at(9))
        again = await ask(s, SaveWebhook("bob", "live", OTHER))
        assert (
            again.webhook == await webhook(s, "live") == Webhook(OTHER, True, 0, at(5), at(8), None)
        )
        assert again.secret is None
        assert events(s, "webhook.saved") == [
            ("ada", {"environment": "live", "url": URL}, at(5)),
            ("bob", {"environment": "live", "url": OTHER}, at(9)),
        ]
        assert events(s, "webhook.secret_rotated") == [("bob", {"environment": "live"}, at(8))]
        assert events(s, "webhook.disabled") == [
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
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        await save(s)
        before, revision = await webhook(s), s.account().revision
        assert await ask(s, SaveWebhook("ops", "test", url)) == refuse("invalid_webhook_url")
        assert await ask(s, SaveWebhook("ops", "live", url)) == refuse("invalid_webhook_url")
        assert (await webhook(s), s.account().revision) == (before, revision)


async def test_every_registration_row_of_the_case_table_is_saved_or_refused_and_looks_nothing_up(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with (
        open_internet() as internet,
        ready_core(tmp_path, outbound=Outbound(client_context())) as s,
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


async def test_where_an_endpoint_is_on_is_the_same_from_rows_and_in_memory(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
        for change, on in (
            (save(s), {"test"}),
            (save(s, environment="live"), {"test", "live"}),
            (switch_off(s), {"live"}),
            (switch_off(s), {"live"}),
            (switch_off(s, "live"), set()),
            (save(s), {"test"}),
        ):
            await change
            assert s.account().webhook_on == on
            assert await rows.read_account(s.reader, "acme") == s.account()
            assert (await rows.read_accounts(s.reader))["acme"] == s.account()
    async with ready_core(tmp_path, outbound=Endpoints()) as s:
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
    async with ready_core(tmp_path, outbound=Endpoints(), faults=faults) as s:
        await save(s)
        stored = "select * from webhook"
        before, revision = select(s, stored), s.account().revision
        faults.fail(text)
        with pytest.raises(Crashed):
            await ask(s, command)
        faults.heal()
        assert select(s, stored) == before
        assert s.account().revision == revision
        assert s.account().webhook_on == {"test"}


async def test_an_account_switched_off_past_the_actors_ends_the_tries_still_due(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(DOWN)
    async with ready_core(tmp_path, outbound=endpoints) as s:
        await save(s)
        await until(58)
        nudge(s)
        await until(59.5)
        write(s, "update partner set active = 0, revision = revision + 1 where partner_id = 'acme'")
        await until(120)  # the registry read it at 60, before the third try
        assert len(endpoints.posts) == len(await log(s)) == 2
        assert (await webhook(s)).consecutive_failures == 0
