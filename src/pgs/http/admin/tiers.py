"""`GET tiers`: every tier of an environment, with the price that the account charges for it."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.http.admin.authorization import AdminCall, account_now
from pgs.http.admin.endpoints import admin_read
from pgs.http.admin.paths import environment_asked
from pgs.http.api.endpoint import Answer


class TierPrices(msgspec.Struct, frozen=True, rename="camel"):
    """A tier's numbers in US cents.

    `price_usd_cents` is the price that the account has set, absent if it has set none. `in_force`
    tells whether that price is charged. If the tier's floor rises above the price, or the tier's
    prize falls below the price, the floor is charged from then on, until the account saves a price
    again. `entry_usd_cents` is what a seat costs now. `games` lists the games for which the tier is
    on offer.
    """

    tier_id: str
    name: str
    floor_usd_cents: int
    prize_usd_cents: int
    entry_usd_cents: int
    in_force: bool
    games: list[str]
    price_usd_cents: int | UnsetType = UNSET


class TierList(msgspec.Struct, frozen=True, rename="camel"):
    """The tiers, in the order of their floors, then of their ids."""

    environment: str
    tiers: list[TierPrices]


async def list_tiers(call: AdminCall) -> Answer:
    """Return every tier, locked ones included."""
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    catalogue = call.services.parts.catalogue.published(trio.current_time())
    if catalogue is None:
        return refuse("settlement_unavailable")
    prices, games = account_now(call).prices[environment], sorted(call.services.parts.games)
    found = []
    for tier in catalogue.tiers[environment].values():
        price = prices.get(tier.tier_id)
        found.append(
            TierPrices(
                tier_id=tier.tier_id,
                name=tier.current.name,
                floor_usd_cents=tier.current.floor_usd_cents,
                prize_usd_cents=tier.current.prize_usd_cents,
                entry_usd_cents=tier.entry_usd_cents(price),
                in_force=tier.is_in_force(price),
                games=[game for game in games if not tier.is_locked(game)],
                price_usd_cents=UNSET if price is None else price.entry_usd_cents,
            )
        )
    return TierList(
        environment, sorted(found, key=lambda tier: (tier.floor_usd_cents, tier.tier_id))
    )


ENDPOINTS = (
    admin_read(
        "tiers",
        list_tiers,
        TierList,
        "The tiers, and what the account charges for them",
        query=frozenset({"environment"}),
        errors=("missing_parameter", "settlement_unavailable"),
    ),
)
