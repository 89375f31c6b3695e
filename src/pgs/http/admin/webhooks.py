"""The webhook endpoints, their test event, and the log of attempts."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.delivery.lone_tries import seconds_until_test
from pgs.actors.kernel.written import already_written
from pgs.actors.messages.account.webhooks import (
    DisableWebhook,
    NoteResend,
    ResendNoted,
    RotateWebhookSecret,
    SaveWebhook,
    WebhookSaved,
    WebhookSecretRotated,
)
from pgs.actors.messages.courier import Resend, SendTest
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.ids import ATTEMPT, is_id
from pgs.domain.nudges import KEEP_ATTEMPTS_S
from pgs.domain.secrets import HidesSecrets
from pgs.http.admin.authorization import AdminCall, change
from pgs.http.admin.endpoints import admin_list, admin_read, admin_write
from pgs.http.admin.paths import environment_of
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import Answer, Reply
from pgs.http.api.lists import Wanted, cut, wanted_page
from pgs.http.api.responses import or_unset
from pgs.http.partner.me import WebhookRecord, webhook_record
from pgs.storage.attempts import Attempt, attempts_before
from pgs.storage.webhooks import find_webhook


class WebhookUrl(msgspec.Struct, frozen=True):
    """The URL to which nudges go."""

    url: str


class WebhookState(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """The webhook endpoint of an environment. `webhook` is absent if there is none.

    `signing_secret` is present only in the answer to the call that minted it.
    """

    SECRETS = frozenset({"signing_secret"})

    webhook: WebhookRecord | UnsetType = UNSET
    signing_secret: str | UnsetType = UNSET


class AttemptRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One try at delivering a nudge. `at` in epoch seconds.

    `status_code` is absent if no response came, `error` if one did. `resend`: whether this
    try sends the nudge of an earlier try again, because a member asked for it.
    """

    attempt_id: str
    nudge_id: str
    at: int
    try_: int = msgspec.field(name="try")
    delivered: bool
    duration_ms: int
    response_body: str
    test: bool
    resend: bool
    status_code: int | UnsetType = UNSET
    match_id: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class AttemptPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the attempt log, the newest first."""

    attempts: list[AttemptRecord]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.attempts"


def attempt_record(attempt: Attempt) -> AttemptRecord:
    """Return the record of a try."""
    return AttemptRecord(
        attempt_id=attempt.attempt_id,
        nudge_id=attempt.nudge_id,
        at=attempt.at,
        try_=attempt.try_number,
        delivered=attempt.delivered,
        duration_ms=attempt.duration_ms,
        response_body=attempt.response_body,
        test=attempt.test,
        resend=attempt.resend,
        status_code=or_unset(attempt.status_code),
        match_id=or_unset(attempt.match_id),
        error=or_unset(attempt.error),
    )


async def read_webhook(call: AdminCall) -> Answer:
    """Return the endpoint of an environment."""
    found = await find_webhook(
        call.services.parts.database.reader, call.principal.account.partner_id, environment_of(call)
    )
    return WebhookState(webhook_record(found) if found else UNSET)


async def save_webhook(call: AdminCall) -> Answer:
    """Save the URL and switch the endpoint on. The first save also mints the signing secret."""
    body: WebhookUrl = call.body
    reply = await change(call, SaveWebhook, environment_of(call), body.url)
    if not isinstance(reply, WebhookSaved):
        return reply
    return WebhookState(webhook_record(reply.webhook), or_unset(reply.secret))


async def rotate_secret(call: AdminCall) -> Answer:
    """Mint a new signing secret."""
    reply = await change(call, RotateWebhookSecret, environment_of(call))
    if not isinstance(reply, WebhookSecretRotated):
        return reply
    return WebhookState(webhook_record(reply.webhook), reply.secret)


async def switch_off(call: AdminCall) -> Answer:
    reply = await change(call, DisableWebhook, environment_of(call))
    return reply if isinstance(reply, Refusal | BadRequest) else WebhookState(webhook_record(reply))


async def send_test(call: AdminCall) -> Answer:
    """Send one signed test event; return the try."""
    partner_id, environment, parts = (
        call.principal.account.partner_id,
        environment_of(call),
        call.services.parts,
    )
    reply = (
        await call.services.directory.partner(partner_id)
        .courier(environment)
        .ask(SendTest(call.principal.seen))
    )
    if isinstance(reply, Attempt):
        return attempt_record(reply)
    if reply.reason != "test_event_too_soon":
        return reply
    return Reply(
        reply,
        overloaded(
            await seconds_until_test(
                parts.database.reader, partner_id, environment, parts.clock.now()
            )
        ),
    )


async def resend(call: AdminCall) -> Answer:
    """Send the nudge of an attempt again, in one try; return that try."""
    parts, environment = call.services.parts, environment_of(call)
    attempt_id = call.path["attempt_id"]
    if not is_id(ATTEMPT, attempt_id):  # refused without drawing from the rate limit
        return refuse("attempt_not_found")
    partner = call.services.directory.partner(call.principal.account.partner_id)
    answer = partner.resends.take(trio.current_time())
    if not answer.allowed:
        parts.on_event("rate_limited_by_admin")
        return Reply(refuse("rate_limited"), overloaded(answer.retry_after))
    noted = await change(call, NoteResend, environment, attempt_id)
    if not isinstance(noted, ResendNoted):
        return noted
    with already_written():
        reply = await partner.courier(environment).ask(Resend(noted.match_id))
    return attempt_record(reply) if isinstance(reply, Attempt) else reply


async def list_attempts(call: AdminCall) -> Answer:
    """Return a page of the attempt log."""
    environment, parts = environment_of(call), call.services.parts
    wanted = wanted_page(call, _KIND, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    since = parts.clock.now() - KEEP_ATTEMPTS_S
    found = await attempts_before(
        parts.database.reader,
        call.principal.account.partner_id,
        environment,
        wanted.before,
        since,
        wanted.limit + 1,
    )
    shown, page = cut(call, _KIND, wanted, found, lambda attempt: attempt.seq, environment)
    return AttemptPage(
        [attempt_record(attempt) for attempt in shown], page.next_cursor, page.has_more
    )


ENDPOINTS = (
    admin_read("webhooks/{env}", read_webhook, WebhookState, "A webhook endpoint"),
    admin_write(
        "POST",
        "webhooks/{env}",
        save_webhook,
        WebhookState,
        "Save a webhook's URL",
        request=WebhookUrl,
        errors=("invalid_webhook_url",),
    ),
    admin_write(
        "POST",
        "webhooks/{env}/rotate-secret",
        rotate_secret,
        WebhookState,
        "Replace a webhook's signing secret",
        errors=("webhook_not_configured",),
    ),
    admin_write(
        "POST",
        "webhooks/{env}/disable",
        switch_off,
        WebhookState,
        "Switch a webhook off",
        errors=("webhook_not_configured",),
    ),
    admin_write(
        "POST",
        "webhooks/{env}/test",
        send_test,
        AttemptRecord,
        "Send a test event",
        errors=(
            "webhook_not_configured",
            "webhook_not_enabled",
            "account_inactive",
            "test_event_too_soon",
        ),
    ),
    admin_write(
        "POST",
        "webhooks/{env}/attempts/{attempt_id}/resend",
        resend,
        AttemptRecord,
        "Resend the nudge of an attempt",
        errors=(
            "rate_limited",
            "webhook_not_configured",
            "webhook_not_enabled",
            "account_inactive",
            "attempt_not_found",
        ),
    ),
    admin_list(
        "webhooks/{env}/attempts", list_attempts, AttemptPage, "The log of delivery attempts"
    ),
)
