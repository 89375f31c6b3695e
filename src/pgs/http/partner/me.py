"""`GET /partner/me`: which account and environment a key belongs to."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.domain.accounts import Webhook
from pgs.domain.tiers import effective_prices
from pgs.http.api.endpoint import Call, Endpoint
from pgs.storage.webhooks import find_webhook


class WebhookRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A webhook endpoint without its secret. Times in epoch seconds."""

    url: str
    enabled: bool
    consecutive_failures: int
    created_at: int
    secret_rotated_at: int
    disabled_at: int | None


class Me(msgspec.Struct, frozen=True, rename="camel"):
    """The account as this key sees it. `prices`: US cents by tier id, for priced tiers."""

    partner_id: str
    name: str
    api_version: int
    environment: str
    games: list[str]
    origins: tuple[str, ...]
    prices: dict[str, int]
    webhook: WebhookRecord | UnsetType = UNSET


def webhook_record(webhook: Webhook) -> WebhookRecord:
    """Return the record of an endpoint."""
    return WebhookRecord(
        webhook.url,
        webhook.enabled,
        webhook.consecutive_failures,
        webhook.created_at,
        webhook.secret_rotated_at,
        webhook.disabled_at,
    )


async def read_me(call: Call) -> Me:
    """Return the account with the prices that are in force.

    If the tiers cannot be read, every price is returned as it was set.
    """
    account, environment, parts = (
        call.principal.account,
        call.principal.environment,
        call.services.parts,
    )
    catalogue = parts.catalogue.published(trio.current_time())
    tiers = catalogue.tiers[environment] if catalogue else None
    webhook = await find_webhook(parts.database.reader, account.partner_id, environment)
    return Me(
        partner_id=account.partner_id,
        name=account.name,
        api_version=call.principal.version,
        environment=environment,
        games=[
            game_id for game_id in account.licensed_games(environment) if game_id in parts.games
        ],
        origins=account.origins[environment],
        prices=effective_prices(account.prices[environment], tiers),
        webhook=webhook_record(webhook) if webhook else UNSET,
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/me",
        handler=read_me,
        response=Me,
        summary="The account and environment of a key",
    ),
)
