"""The rules about webhook endpoints."""

import msgspec
from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages.account.webhooks import (
    DisableWebhook,
    NoteResend,
    ResendNoted,
    RotateWebhookSecret,
    SaveWebhook,
    WebhookSaved,
    WebhookSecretRotated,
)
from pgs.domain.accounts import Account, Webhook
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.nudges import KEEP_ATTEMPTS_S
from pgs.domain.secrets import WEBHOOK_SECRET_BYTES, webhook_secret
from pgs.domain.webhook_urls import normalise_webhook_url
from pgs.storage import webhooks as rows
from pgs.storage.attempts import Attempt, find_attempt
from pgs.storage.reader import Reader


class StoredWebhook(msgspec.Struct, frozen=True):
    """An endpoint as rows hold it. `saved_seq` rises each time its URL is saved."""

    webhook: Webhook
    saved_seq: int


async def read_webhook(
    reader: Reader,
    account: Account,
    command: SaveWebhook | RotateWebhookSecret | DisableWebhook,
    now: int,
) -> StoredWebhook | None:
    """Return the endpoint of the command's environment."""
    webhook = await rows.find_webhook(reader, account.partner_id, command.environment)
    endpoint = await rows.find_endpoint(reader, account.partner_id, command.environment)
    if webhook is None or endpoint is None:
        return None
    return StoredWebhook(webhook, endpoint.saved_seq)


def save_webhook(
    account: Account, command: SaveWebhook, context: Context, stored: StoredWebhook | None
) -> AccountDecision:
    """Decide to save a URL and switch the endpoint on.

    The first URL of an endpoint also mints its signing secret; a later URL keeps that secret.
    """
    url = normalise_webhook_url(command.url)
    if url is None:
        return refuse("invalid_webhook_url")
    partner_id, environment = account.partner_id, command.environment
    if stored is None:
        secret = webhook_secret(context.random(WEBHOOK_SECRET_BYTES))
        sealed = context.seal(secret, webhook_context(partner_id, environment))
        webhook = Webhook(url, True, 0, context.now, context.now, None)
        stmt = rows.insert_webhook(partner_id, environment, url, sealed, context.now)
        reply = WebhookSaved(webhook, secret)
    else:
        webhook = replace(
            stored.webhook, url=url, enabled=True, consecutive_failures=0, disabled_at=None
        )
        stmt = rows.save_url(partner_id, environment, url)
        reply = WebhookSaved(webhook, secret=None)
    return Write(
        account=replace(account, webhook_on=account.webhook_on | {environment}),
        stmts=(stmt,),
        action="webhook.saved",
        detail={"environment": environment, "url": url},
        reply=lambda _: reply,
        endpoints=(environment,),
    )


def rotate_webhook_secret(
    account: Account, command: RotateWebhookSecret, context: Context, stored: StoredWebhook | None
) -> AccountDecision:
    """Decide to replace the signing secret. Nothing else about the endpoint changes."""
    if stored is None:
        return refuse("webhook_not_configured")
    partner_id, environment = account.partner_id, command.environment
    secret = webhook_secret(context.random(WEBHOOK_SECRET_BYTES))
    sealed = context.seal(secret, webhook_context(partner_id, environment))
    rotated = replace(stored.webhook, secret_rotated_at=context.now)
    return Write(
        account=account,
        stmts=(rows.rotate_secret(partner_id, environment, sealed, context.now),),
        action="webhook.secret_rotated",
        detail={"environment": environment},
        reply=lambda _: WebhookSecretRotated(rotated, secret),
        endpoints=(environment,),
    )


def disable_webhook(
    account: Account, command: DisableWebhook, context: Context, stored: StoredWebhook | None
) -> AccountDecision:
    """Decide to switch an endpoint off; its row stays.

    Nothing changes if the endpoint is off already, or if the command has a `saved_seq` and the
    endpoint's URL has been saved again since then.
    """
    if stored is None:
        return refuse("webhook_not_configured")
    was, environment = stored.webhook, command.environment
    if not was.enabled or command.saved_seq not in (None, stored.saved_seq):
        return was
    off = replace(was, enabled=False, disabled_at=context.now)
    return Write(
        account=replace(account, webhook_on=account.webhook_on - {environment}),
        stmts=(rows.disable(account.partner_id, environment, context.now),),
        action="webhook.disabled",
        detail={"environment": environment, "consecutiveFailures": was.consecutive_failures},
        reply=lambda _: off,
        endpoints=(environment,),
    )


async def read_attempt(
    reader: Reader, account: Account, command: NoteResend, now: int
) -> tuple[Webhook | None, Attempt | None]:
    """Return the endpoint of the command's environment, and the attempt if it is in the log."""
    scope = (account.partner_id, command.environment)
    webhook = await rows.find_webhook(reader, *scope)
    return webhook, await find_attempt(reader, *scope, command.attempt_id, now - KEEP_ATTEMPTS_S)


def note_resend(
    account: Account,
    command: NoteResend,
    _: Context,
    found: tuple[Webhook | None, Attempt | None],
) -> AccountDecision:
    """Decide to write an event and nothing else. The courier sends the nudge."""
    webhook, attempt = found
    if webhook is None:
        return refuse("webhook_not_configured")
    if not webhook.enabled:
        return refuse("webhook_not_enabled")
    if not account.active:
        return refuse("account_inactive")
    if attempt is None:
        return refuse("attempt_not_found")
    if attempt.match_id is None:
        return BadRequest("`attempt_id` names a test event. Send a new test event instead.")
    noted = ResendNoted(attempt.match_id)
    return Write(
        account=account,
        stmts=(),
        action="webhook.nudge_resent",
        detail={
            "environment": command.environment,
            "attemptId": attempt.attempt_id,
            "nudgeId": attempt.nudge_id,
            "matchId": attempt.match_id,
        },
        reply=lambda _: noted,
        revises=False,
    )


def webhook_context(partner_id: str, environment: Environment) -> str:
    """Return the context in which a webhook's secret is sealed and opened."""
    return f"{partner_id}|{environment}|webhook"
