"""`GET /partner/tiers`: the price of a seat at a game in each tier."""

import msgspec
import trio

from pgs.domain.errors import refuse
from pgs.http.api.endpoint import Answer, Call, Endpoint
from pgs.http.api.hints import licence_refusal


class TierRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A tier on offer.

    `entry_usd_cents` is the price of a seat at this partner; `priced` tells whether the partner has
    set it.
    """

    tier_id: str
    name: str
    entry_usd_cents: int
    floor_usd_cents: int
    prize_usd_cents: int
    priced: bool


class TierLadder(msgspec.Struct, frozen=True, rename="camel"):
    """The tiers on offer for a game, in the order of their prices, then of their ids."""

    game_id: str
    environment: str
    tiers: list[TierRecord]


async def read_tiers(call: Call) -> Answer:
    """Return the tiers on offer for a game. Locked tiers are left out."""
    game_id = call.query.get("gameId", "")
    if not game_id:
        return refuse("missing_parameter", parameter="gameId")
    account, environment = call.principal.account, call.principal.environment
    refusal = licence_refusal(account, environment, game_id, call.services.parts.games)
    if refusal is not None:
        return refusal
    catalogue = call.services.parts.catalogue.published(trio.current_time())
    if catalogue is None:
        return refuse("settlement_unavailable")
    prices = account.prices[environment]
    tiers = [
        TierRecord(
            tier_id=tier.tier_id,
            name=tier.current.name,
            entry_usd_cents=tier.entry_usd_cents(prices.get(tier.tier_id)),
            floor_usd_cents=tier.current.floor_usd_cents,
            prize_usd_cents=tier.current.prize_usd_cents,
            priced=tier.is_in_force(prices.get(tier.tier_id)),
        )
        for tier in catalogue.tiers[environment].values()
        if not tier.is_locked(game_id)
    ]
    return TierLadder(
        game_id, environment, sorted(tiers, key=lambda tier: (tier.entry_usd_cents, tier.tier_id))
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/tiers",
        handler=read_tiers,
        response=TierLadder,
        query=frozenset({"gameId"}),
        errors=(
            "missing_parameter",
            "game_not_licensed",
            "game_not_licensed_in_this_environment",
            "settlement_unavailable",
        ),
        summary="The tiers on offer for a game",
    ),
)
