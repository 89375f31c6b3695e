"""What is decided about webhook endpoints."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages import account as m
from pgs.domain.accounts import Account, Webhook
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.secrets import WEBHOOK_SECRET_BYTES, webhook_secret
from pgs.domain.urls import normalise_webhook_url
from pgs.storage import webhooks as rows


def save_webhook(account: Account, command: m.SaveWebhook, context: Context) -> AccountDecision:
    """Decide on a webhook's URL, which switches the endpoint on. The first one mints the signing secret; a later one keeps it."""
    url = normalise_webhook_url(command.url)
    if url is None:
        return refuse("invalid_webhook_url")
    environment, detail = command.environment, {"environment": command.environment, "url": url}
    after = replace(account, webhook_on=account.webhook_on | {environment})
    was = rows.find_webhook(context.reader, account.partner_id, environment)
    if was is not None:
        saved = replace(was, url=url, enabled=True, consecutive_failures=0, disabled_at=None)
        stmt = rows.save_url(account.partner_id, environment, url)
        return Write(
            after, (stmt,), "webhook.saved", detail, lambda _: (saved, None), (environment,)
        )
    secret, sealed = _new_secret(account, environment, context)
    new = Webhook(url, True, 0, context.now, context.now, None)
    stmt = rows.insert_webhook(account.partner_id, environment, url, sealed, context.now)
    return Write(after, (stmt,), "webhook.saved", detail, lambda _: (new, secret), (environment,))


def rotate_webhook_secret(
    account: Account, command: m.RotateWebhookSecret, context: Context
) -> AccountDecision:
    """Decide on a new signing secret; everything else about the endpoint stays as it is."""
    was = rows.find_webhook(context.reader, account.partner_id, command.environment)
    if was is None:
        return refuse("webhook_not_configured")
    secret, sealed = _new_secret(account, command.environment, context)
    rotated = replace(was, secret_rotated_at=context.now)
    stmt = rows.rotate_secret(account.partner_id, command.environment, sealed, context.now)
    detail = {"environment": command.environment}
    return Write(
        account,
        (stmt,),
        "webhook.secret_rotated",
        detail,
        lambda _: (rotated, secret),
        (command.environment,),
    )


def disable_webhook(
    account: Account, command: m.DisableWebhook, context: Context
) -> AccountDecision:
    """Decide to switch an endpoint off. It stays on file; one that is off already, or was saved anew meanwhile, is left alone."""
    was = rows.find_webhook(context.reader, account.partner_id, command.environment)
    endpoint = rows.find_endpoint(context.reader, account.partner_id, command.environment)
    if was is None or endpoint is None:
        return refuse("webhook_not_configured")
    if not was.enabled or command.saved_seq not in (None, endpoint.saved_seq):
        return was
    off = replace(was, enabled=False, disabled_at=context.now)
    after = replace(account, webhook_on=account.webhook_on - {command.environment})
    stmt = rows.disable(account.partner_id, command.environment, context.now)
    detail = {"environment": command.environment, "consecutiveFailures": was.consecutive_failures}
    return Write(after, (stmt,), "webhook.disabled", detail, lambda _: off, (command.environment,))


def _new_secret(account: Account, environment: Environment, context: Context) -> tuple[str, str]:
    secret = webhook_secret(context.random(WEBHOOK_SECRET_BYTES))
    return secret, context.seal(secret, webhook_context(account.partner_id, environment))


def webhook_context(partner_id: str, environment: str) -> str:
    """Return what a webhook's secret is sealed for."""
    return f"{partner_id}|{environment}|webhook"
