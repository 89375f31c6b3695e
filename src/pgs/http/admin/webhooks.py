"""The webhook endpoints: saving, rotating the secret, switching off, the test event, and the log of attempts."""

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.delivery.courier import seconds_until_test
from pgs.actors.maintenance.endpoints import KEEP_ATTEMPTS_S
from pgs.actors.messages.account.webhooks import (
    DisableWebhook,
    RotateWebhookSecret,
    SaveWebhook,
    WebhookSaved,
    WebhookSecretRotated,
)
from pgs.actors.messages.courier import (
    SendTest,
)
from pgs.domain.errors import BadRequest, Refusal
from pgs.http.admin.gate import AdminCall, change
from pgs.http.admin.lists import LIST_QUERY, Wanted, cut, wanted_page
from pgs.http.admin.paths import environment_of
from pgs.http.api.auth import overloaded
from pgs.http.api.endpoint import Answer, Endpoint, Reply
from pgs.http.partner.me import WebhookRecord, webhook_record
from pgs.storage.attempts import NEWEST, Attempt, attempts_before
from pgs.storage.webhooks import find_webhook


class WebhookUrl(msgspec.Struct, frozen=True):
    """Where nudges are to go."""

    url: str


class WebhookState(msgspec.Struct, frozen=True, rename="camel"):
    """An environment's endpoint, absent where there is none. `signing_secret` is there once, when it has just been minted."""

    webhook: WebhookRecord | UnsetType = UNSET
    signing_secret: str | UnsetType = UNSET


class AttemptRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One try at delivering a nudge. `status_code` is absent when no response came, `error` when one did; `at` in epoch seconds."""

    attempt_id: str
    nudge_id: str
    at: int
    try_: int = msgspec.field(name="try")
    delivered: bool
    duration_ms: int
    response_body: str
    test: bool
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
    """Return a try as it is shown."""
    return AttemptRecord(
        attempt_id=attempt.attempt_id,
        nudge_id=attempt.nudge_id,
        at=attempt.at,
        try_=attempt.try_number,
        delivered=attempt.delivered,
        duration_ms=attempt.duration_ms,
        response_body=attempt.response_body,
        test=attempt.test,
        status_code=UNSET if attempt.status_code is None else attempt.status_code,
        match_id=UNSET if attempt.match_id is None else attempt.match_id,
        error=UNSET if attempt.error is None else attempt.error,
    )


async def read_webhook(call: AdminCall) -> Answer:
    """Return the endpoint of an environment."""
    found = find_webhook(
        call.services.parts.database.reader, call.principal.account.partner_id, environment_of(call)
    )
    return WebhookState(webhook_record(found) if found else UNSET)


async def save_webhook(call: AdminCall) -> Answer:
    """Save the URL, and switch the endpoint on."""
    body: WebhookUrl = call.body
    reply = await change(call, SaveWebhook, environment_of(call), body.url)
    if not isinstance(reply, WebhookSaved):
        return reply
    return WebhookState(
        webhook_record(reply.webhook), UNSET if reply.secret is None else reply.secret
    )


async def rotate_secret(call: AdminCall) -> Answer:
    """Mint a new signing secret."""
    reply = await change(call, RotateWebhookSecret, environment_of(call))
    if not isinstance(reply, WebhookSecretRotated):
        return reply
    return WebhookState(webhook_record(reply.webhook), reply.secret)


async def switch_off(call: AdminCall) -> Answer:
    """Switch the endpoint off."""
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
            seconds_until_test(parts.database.reader, partner_id, environment, parts.clock.now())
        ),
    )


async def list_attempts(call: AdminCall) -> Answer:
    """Return a page of the attempt log."""
    environment, parts = environment_of(call), call.services.parts
    wanted = wanted_page(call, _KIND, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    before = wanted.after if isinstance(wanted.after, int) else NEWEST
    since = parts.clock.now() - KEEP_ATTEMPTS_S
    found = attempts_before(
        parts.database.reader,
        call.principal.account.partner_id,
        environment,
        before,
        since,
        wanted.limit + 1,
    )
    shown, page = cut(call, _KIND, wanted, found, lambda attempt: attempt.seq, environment)
    return AttemptPage(
        [attempt_record(attempt) for attempt in shown], page.next_cursor, page.has_more
    )


_PATH = "/partner/admin/webhooks/{env}"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=read_webhook,
        response=WebhookState,
        credential="identity",
        summary="A webhook endpoint",
    ),
    Endpoint(
        method="POST",
        path=_PATH,
        handler=save_webhook,
        request=WebhookUrl,
        response=WebhookState,
        credential="identity",
        errors=("invalid_webhook_url", "partner_changed"),
        summary="Save a webhook's URL",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/rotate-secret",
        handler=rotate_secret,
        response=WebhookState,
        credential="identity",
        errors=("webhook_not_configured", "partner_changed"),
        summary="Replace a webhook's signing secret",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/disable",
        handler=switch_off,
        response=WebhookState,
        credential="identity",
        errors=("webhook_not_configured", "partner_changed"),
        summary="Switch a webhook off",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/test",
        handler=send_test,
        response=AttemptRecord,
        credential="identity",
        errors=(
            "webhook_not_configured",
            "webhook_not_enabled",
            "account_inactive",
            "test_event_too_soon",
            "partner_changed",
        ),
        summary="Send a test event",
    ),
    Endpoint(
        method="GET",
        path=f"{_PATH}/attempts",
        handler=list_attempts,
        response=AttemptPage,
        credential="identity",
        query=LIST_QUERY,
        errors=("invalid_cursor",),
        summary="The log of delivery attempts",
    ),
)
