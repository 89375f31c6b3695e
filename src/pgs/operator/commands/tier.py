"""`tier.…`: tiers, which say what a seat costs and what a match pays."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from pgs.actors.core import Core
from pgs.actors.messages import catalogue as m
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.tiers import TIER_USD_CENTS_MAX, Tier
from pgs.operator.command import Args, Id, NoArgs, OperatorCommand, Text
from pgs.operator.forwarding import of_platform
from pgs.operator.records import TierList, TierLocked, TierRecord, tier_record

Cents = Annotated[int, Meta(ge=-TIER_USD_CENTS_MAX, le=TIER_USD_CENTS_MAX)]


class TierNumbers(Args, frozen=True):
    """A tier's numbers in US cents. Without `name` the tier keeps its name."""

    environment: Environment
    tier_id: Id
    floor_usd_cents: Cents
    prize_usd_cents: Cents
    name: Text | None = None


class TierOfGame(Args, frozen=True):
    """A tier and the game to lock or unlock it for."""

    environment: Environment
    tier_id: Id
    game_id: Id


async def _tier(core: Core, environment: Environment, tier_id: str) -> Tier:
    tier = (await core.parts.catalogue.current()).find(environment, tier_id)
    if tier is None:
        raise RuntimeError(f"tier {tier_id} is gone")
    return tier


async def set_tier(core: Core, args: TierNumbers) -> TierRecord | Refusal | BadRequest:
    """Create a tier, or a new revision of one. Seats that are taken keep their revision."""
    reply = await core.directory.catalogue().ask(
        m.SetTier(
            args.environment, args.tier_id, args.name, args.floor_usd_cents, args.prize_usd_cents
        )
    )
    return (
        tier_record(await _tier(core, args.environment, args.tier_id))
        if isinstance(reply, m.TierSet)
        else reply
    )


async def set_lock(core: Core, args: TierOfGame, *, locked: bool) -> TierLocked | Refusal:
    """Lock a tier for a game, so that it takes no new seats there, or unlock it."""
    reply = await core.directory.catalogue().ask(
        m.LockTier(args.environment, args.tier_id, args.game_id, locked)
    )
    if isinstance(reply, Refusal):
        return reply
    return TierLocked.of(
        tier_record(await _tier(core, args.environment, args.tier_id)), changed=reply.changed
    )


async def list_tiers(core: Core, args: NoArgs) -> TierList:
    """Return every tier, by environment and id."""
    tiers = (await core.parts.catalogue.current()).tiers
    return TierList(
        [
            tier_record(tiers[environment][tier_id])
            for environment in ENVIRONMENTS
            for tier_id in sorted(tiers[environment])
        ]
    )


TIER_SET = OperatorCommand(
    "tier.set", TierNumbers, TierRecord, set_tier, starts_a_folder=True, about=of_platform
)
TIER_LOCK = OperatorCommand(
    "tier.lock", TierOfGame, TierLocked, partial(set_lock, locked=True), about=of_platform
)
TIER_UNLOCK = OperatorCommand(
    "tier.unlock", TierOfGame, TierLocked, partial(set_lock, locked=False), about=of_platform
)
TIER_LIST = OperatorCommand("tier.list", NoArgs, TierList, list_tiers)

COMMANDS = (TIER_SET, TIER_LOCK, TIER_UNLOCK, TIER_LIST)
