"""Commands to the account actor about webhook endpoints."""

import msgspec

from pgs.actors.messages.account.command import AccountCommand
from pgs.domain.accounts import Webhook
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets


class WebhookSaved(HidesSecrets, msgspec.Struct, frozen=True):
    """The endpoint as saved. `secret` is the signing secret if this command minted it."""

    SECRETS = frozenset({"secret"})

    webhook: Webhook
    secret: str | None


class SaveWebhook(AccountCommand[WebhookSaved | Refusal | BadRequest], frozen=True):
    """Save a webhook's URL and switch the endpoint on. The first save mints a signing secret."""

    by: str
    environment: Environment
    url: str


class WebhookSecretRotated(HidesSecrets, msgspec.Struct, frozen=True):
    """The endpoint, and its new signing secret."""

    SECRETS = frozenset({"secret"})

    webhook: Webhook
    secret: str


class RotateWebhookSecret(AccountCommand[WebhookSecretRotated | Refusal | BadRequest], frozen=True):
    """Replace the signing secret. Nothing else changes."""

    by: str
    environment: Environment


class DisableWebhook(AccountCommand[Webhook | Refusal | BadRequest], frozen=True):
    """Switch a webhook off. With `saved_seq`, only if its URL has not been saved again since."""

    by: str
    environment: Environment
    saved_seq: int | None = None


class ResendNoted(msgspec.Struct, frozen=True):
    """The match about which a nudge is sent again."""

    match_id: str


class NoteResend(AccountCommand[ResendNoted | Refusal | BadRequest], frozen=True):
    """Write into the event log that a member wants the nudge of an attempt to be sent again."""

    by: str
    environment: Environment
    attempt_id: str
