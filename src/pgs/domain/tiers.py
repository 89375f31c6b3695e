"""Tiers: what a seat costs, what its match pays, and when a tier may not be offered.

Setting a tier's numbers makes a new revision. A seat keeps the revision under which it was taken,
so its numbers never change.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.suggestions import closest

TIER_USD_CENTS_MAX: Final = 10**9
"""Cents of the highest prize of a tier: ten million dollars. A JSON reader with 64-bit floats still
adds up nine million such prizes exactly, because the sum is below 2^53."""

TOLD_TIERS: Final = 8
"""Tiers that one message may name. A longer list would hide what the message says."""


class TierRevision(msgspec.Struct, frozen=True):
    """One set of a tier's numbers, in US cents."""

    revision: int
    name: str
    floor_usd_cents: int
    prize_usd_cents: int


class Price(msgspec.Struct, frozen=True):
    """What a partner charges for a seat, and the tier's revision when the price was set."""

    tier_revision: int
    entry_usd_cents: int


class SeatPrice(msgspec.Struct, frozen=True):
    """The terms of a seat: the tier's revision, the stake charged, and the match's prize."""

    tier_revision: int
    stake_usd_cents: int
    prize_usd_cents: int


class Tier(msgspec.Struct, frozen=True):
    """A tier with all of its revisions, the oldest first.

    `locked_games`: the games for which an operator has locked it.
    """

    environment: Environment
    tier_id: str
    revisions: tuple[TierRevision, ...]
    locked_games: frozenset[str] = frozenset()

    @property
    def current(self) -> TierRevision:
        """The revision that new seats are taken under."""
        return self.revisions[-1]

    @property
    def pays_in(self) -> bool:
        """Whether the platform would have to pay a part of some prizes itself.

        That is so if the prize exceeds two floors, the least that the two seats of a match bring.
        """
        current = self.current
        return current.prize_usd_cents > 2 * current.floor_usd_cents

    def is_locked(self, game_id: str) -> bool:
        """Return whether the tier may not be offered for a game.

        That is so if an operator locked it for the game, or if its prize exceeds two floors.
        """
        return game_id in self.locked_games or self.pays_in

    def is_in_force(self, price: Price | None) -> bool:
        """Return whether a price is in force.

        A price is in force if it lies between floor and prize of every revision since it was set.
        """
        return price is not None and all(
            tier.floor_usd_cents <= price.entry_usd_cents <= tier.prize_usd_cents
            for tier in self.revisions
            if tier.revision >= price.tier_revision
        )

    def entry_usd_cents(self, price: Price | None) -> int:
        """Return the stake of a seat: the partner's price if it is in force, else the floor."""
        return (
            price.entry_usd_cents
            if price is not None and self.is_in_force(price)
            else self.current.floor_usd_cents
        )


class TierCatalogue(msgspec.Struct, frozen=True):
    """Every tier of both environments and the version of the rake terms on offer.

    All of it was read at one moment.
    """

    tiers: Mapping[Environment, Mapping[str, Tier]]
    offered_terms_version: int

    def find(self, environment: Environment, tier_id: str) -> Tier | None:
        """Return a tier of the environment, or None if the environment has no such tier."""
        return self.tiers[environment].get(tier_id)

    def unknown(self, environment: Environment, tier_id: str) -> Refusal:
        """Return the refusal of an unknown tier. Its message helps to find the right one."""
        refusal = refuse("unknown_tier")
        other: Environment = "live" if environment == "test" else "test"
        if tier_id in self.tiers[other]:
            return refusal.saying(
                f"This is a tier of {other}, and the key is one of {environment}. Read the tiers "
                "with this key."
            )
        alike = closest(tier_id, self.tiers[environment])
        meant = f" Did you mean {alike}?" if alike else ""
        named = ", ".join(sorted(self.tiers[environment])[:TOLD_TIERS])
        some = f": {named}." if named else "."
        return refusal.saying(
            f"No such tier in this environment.{meant} `GET /partner/tiers?gameId=…` lists the "
            f"tiers{some}"
        )


def price_seat(tier: Tier, price: Price | None, sent_usd_cents: int) -> SeatPrice | Refusal:
    """Return the terms of a seat, or why the stake that the partner sent is not acceptable.

    If no price is in force, any stake from the floor to the prize is accepted, and the floor is
    charged.
    """
    current = tier.current
    if sent_usd_cents < current.floor_usd_cents:
        return refuse("stake_below_floor", floorUsdCents=current.floor_usd_cents)
    if sent_usd_cents > current.prize_usd_cents:
        return refuse("stake_above_prize", ceilingUsdCents=current.prize_usd_cents)
    entry = current.floor_usd_cents
    if price is not None and tier.is_in_force(price):
        entry = price.entry_usd_cents
        if sent_usd_cents != entry:
            return refuse("stake_does_not_match_price", expectedUsdCents=entry)
    return SeatPrice(current.revision, entry, current.prize_usd_cents)


def effective_prices(
    prices: Mapping[str, Price], tiers: Mapping[str, Tier] | None
) -> dict[str, int]:
    """Return the prices that are in force, in US cents by tier id.

    `tiers` are those of the prices' environment. None means that they cannot be read: then every
    price is returned as it was set. The price of a tier that no longer exists is not in force.
    """
    return {
        tier_id: price.entry_usd_cents
        for tier_id, price in prices.items()
        if tiers is None or (tier_id in tiers and tiers[tier_id].is_in_force(price))
    }


def check_numbers(floor_usd_cents: int, prize_usd_cents: int) -> BadRequest | None:
    """Return what is wrong with a tier's numbers, or None."""
    if floor_usd_cents < 1:
        return BadRequest("the floor must be at least 1 cent")
    if prize_usd_cents < floor_usd_cents:
        return BadRequest("the prize must not be under the floor")
    if prize_usd_cents > TIER_USD_CENTS_MAX:
        return BadRequest(f"the prize must be at most {TIER_USD_CENTS_MAX} cents")
    return None


def check_price(tier: Tier | None, entry_usd_cents: int) -> Refusal | None:
    """Return why a partner cannot charge this price, or None."""
    if tier is None:
        return refuse("unknown_tier")
    if entry_usd_cents < tier.current.floor_usd_cents:
        return refuse("below_floor", floorUsdCents=tier.current.floor_usd_cents)
    if entry_usd_cents > tier.current.prize_usd_cents:
        return refuse("stake_above_prize", ceilingUsdCents=tier.current.prize_usd_cents)
    return None
