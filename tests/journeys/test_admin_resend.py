"""Sending the nudge of an attempt again, through the admin API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pgs.actors.messages.account.settings import AgreeTerms
from pgs.actors.messages.account.webhooks import DisableWebhook
from pgs.actors.messages.courier import Nudge
from pgs.domain.members import PLATFORM
from pgs.domain.token_buckets import RESEND_POLICY
from tests.journeys.admin_client import AdminClient, open_admin_with_webhook
from tests.journeys.client import check_plain, check_refusal
from tests.journeys.partners import account
from tests.journeys.places import Place
from tests.journeys.service import until


@asynccontextmanager
async def nudged(place: Place) -> AsyncIterator[tuple[AdminClient, dict[str, Any]]]:
    """An account whose endpoint has had one nudge, about `mat_7`, and the attempt at it."""
    async with open_admin_with_webhook(place) as (admin, inbox):
        await account(admin.service.core, "acme", AgreeTerms(PLATFORM, 1))
        saved = await admin.call_ok("POST", "webhooks/test", {"url": inbox.url})
        inbox.secret = saved["signingSecret"]
        admin.service.core.directory.partner("acme").courier("test").tell(Nudge("mat_7"))

        async def is_logged() -> bool:
            return bool(await attempts(admin))

        await until(is_logged)
        (first,) = await attempts(admin)
        yield admin, first


async def attempts(admin: AdminClient) -> Any:
    return (await admin.call_ok("GET", "webhooks/test/attempts"))["attempts"]


def path_of(attempt_id: str, environment: str = "test") -> str:
    return f"webhooks/{environment}/attempts/{attempt_id}/resend"


async def test_a_nudge_is_sent_again_and_the_answer_is_the_new_attempt(place: Place) -> None:
    async with nudged(place) as (admin, first):
        assert (first["matchId"], first["resend"], first["delivered"]) == ("mat_7", False, True)
        sent = await admin.call_ok("POST", path_of(first["attemptId"]))
        assert (sent["matchId"], sent["resend"], sent["test"], sent["try"]) == (
            "mat_7",
            True,
            False,
            1,
        )
        assert sent["delivered"]
        assert sent["attemptId"] != first["attemptId"]
        assert sent["nudgeId"] != first["nudgeId"]
        assert await attempts(admin) == [sent, first]
        again = await admin.call_ok("POST", path_of(sent["attemptId"]))  # a resend of a resend
        assert again["matchId"] == "mat_7"


async def test_a_resend_is_in_the_event_log_and_leaves_the_accounts_revision(
    place: Place,
) -> None:
    async with nudged(place) as (admin, first):
        seen = (await admin.call_ok("GET", "account"))["revision"]
        for stale in (seen - 1, seen + 1):
            headers = [("If-Match", str(stale))]
            answer = await admin.call("POST", path_of(first["attemptId"]), headers=headers)
            check_refusal(answer, 409, "partner_changed")
        assert len(await attempts(admin)) == 1
        headers = [("If-Match", f'"{seen}"')]
        await admin.call_ok("POST", path_of(first["attemptId"]), headers=headers)
        (event, *_) = (await admin.call_ok("GET", "events"))["events"]
        assert event["action"] == "webhook.nudge_resent"
        assert event["actor"] != PLATFORM
        assert event["detail"] == {
            "environment": "test",
            "attemptId": first["attemptId"],
            "nudgeId": first["nudgeId"],
            "matchId": "mat_7",
        }
        assert (await admin.call_ok("GET", "account"))["revision"] == seen


async def test_only_an_attempt_of_this_log_that_is_about_a_match_is_resent(place: Place) -> None:
    async with nudged(place) as (admin, first):
        check_refusal(await admin.call("POST", path_of("att_none")), 404, "attempt_not_found")
        check_refusal(
            await admin.call("POST", path_of(first["attemptId"], "live")),
            404,
            "webhook_not_configured",
        )
        tested = await admin.call_ok("POST", "webhooks/test/test")
        check_plain(await admin.call("POST", path_of(tested["attemptId"])), "attempt_id")
        await account(admin.service.core, "acme", DisableWebhook(PLATFORM, "test"))
        check_refusal(
            await admin.call("POST", path_of(first["attemptId"])), 409, "webhook_not_enabled"
        )
        assert len(await attempts(admin)) == 2
        logged = (await admin.call_ok("GET", "events"))["events"]
        assert "webhook.nudge_resent" not in {event["action"] for event in logged}


async def test_resends_are_bounded_for_the_whole_account(place: Place) -> None:
    async with nudged(place) as (admin, first):
        answers = [
            await admin.call("POST", path_of(first["attemptId"]))
            for _ in range(3 * RESEND_POLICY.burst)
        ]
        assert [answer.status for answer in answers[: RESEND_POLICY.burst]] == [200] * 5
        refused = [answer for answer in answers if answer.status != 200]
        assert refused
        check_refusal(refused[0], 429, "rate_limited")
