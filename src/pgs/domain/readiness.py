"""What an account needs for a seat at a game: the conditions that it has to meet, and advice.

This is about a seat at a tier that is on offer, at the account's own price for that tier. Each
condition is a gate. The gates use the same functions and fields as the decisions about seats, so a
gate never contradicts such a decision.
"""

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from pgs.domain.accounts import Account, Licence, check_licence
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.tiers import Tier, TierCatalogue, price_seat

FIRST_GAME: Final = "tic-tac-toe"
"""The game suggested to an account that has none: its matches are short."""


def nearest_game(account: Account, environment: Environment, games: Collection[str]) -> str:
    """Return the game at which the account is nearest to a match; "" if there are no games.

    The game is the first of these that exists: a game that is on in the environment, a game whose
    live access is requested, `FIRST_GAME`, any game.
    """
    known = sorted(games)
    licences = {game_id: account.licences.get(game_id, Licence()) for game_id in known}
    on = [game_id for game_id in known if licences[game_id].covers(environment)]
    requested = [game_id for game_id in known if licences[game_id].live == "requested"]
    first = [game_id for game_id in known if game_id == FIRST_GAME]
    return next(iter([*on, *requested, *first, *known]), "")


class Gate(msgspec.Struct, frozen=True):
    """One condition. `refusal`: the refusal of a seat while the condition does not hold.

    `binding`: whether seats are refused while the condition does not hold. A condition that is not
    binding is advice.
    """

    name: str
    ok: bool
    refusal: Refusal | None = None
    binding: bool = True


class AccountFacts(msgspec.Struct, frozen=True):
    """What an account has besides its own record: a webhook, an admin with an authenticator."""

    webhook_on: bool
    factor_enrolled: bool


ADVICE: Final = {
    "account_active": "Switch the account on. If the platform has switched it off, ask its staff.",
    "game_licensed": "Turn the game on for test, or request live access to it.",
    "rake_terms_agreed": "An admin of the account has to agree to the rake terms.",
    "tier_on_offer": "The platform offers no tier for this game. Ask its staff for one.",
    "prices_in_bounds": "A price lies outside its tier's floor and prize. Set the prices again.",
    "origin_registered": "Register the origin of the page that is to show the frame.",
    "webhook_on": "Save a webhook URL, so that news reaches you without a poll.",
    "factor_enrolled": "An admin should enrol an authenticator: sensitive calls need its codes.",
}
"""What to do about each gate that is not passed."""

PAGES: Final = {
    "account_active": "account",
    "game_licensed": "games",
    "rake_terms_agreed": "terms",
    "prices_in_bounds": "prices",
    "origin_registered": "origins",
    "webhook_on": "webhooks",
    "factor_enrolled": "security",
}
"""The portal's page for each gate that the account's members can pass themselves."""


def gates(
    account: Account,
    environment: Environment,
    game_id: str,
    installed: Collection[str],
    catalogue: TierCatalogue,
    facts: AccountFacts,
) -> list[Gate]:
    """Return every gate, in the order that the interface promises: the advice comes last."""
    tiers = list(catalogue.tiers[environment].values())
    offered = [tier for tier in tiers if not tier.is_locked(game_id)]
    licence = check_licence(account, environment, game_id, installed)
    no_offer = _no_offer(tiers, offered) if game_id in installed else licence
    return [
        _gate("account_active", None if account.active else refuse("partner_inactive")),
        _gate("game_licensed", licence),
        _gate(
            "rake_terms_agreed",
            refuse("rake_terms_not_agreed") if account.agreed_terms_version is None else None,
        ),
        _gate("tier_on_offer", no_offer),
        _gate("prices_in_bounds", next(_wrong_prices(account, environment, offered), None)),
        Gate("origin_registered", bool(account.origins[environment]), binding=False),
        Gate("webhook_on", facts.webhook_on, binding=False),
        Gate("factor_enrolled", facts.factor_enrolled, binding=False),
    ]


def is_ready(found: list[Gate]) -> bool:
    """Return whether every binding gate is passed."""
    return all(gate.ok for gate in found if gate.binding)


def own_price(account: Account, environment: Environment, tier: Tier) -> int:
    """Return what the account charges for a seat, in cents: its price as set, else the floor."""
    price = account.prices[environment].get(tier.tier_id)
    return tier.current.floor_usd_cents if price is None else price.entry_usd_cents


def _gate(name: str, refusal: Refusal | None) -> Gate:
    return Gate(name, refusal is None, refusal)


def _no_offer(tiers: list[Tier], offered: list[Tier]) -> Refusal | None:
    if offered:
        return None
    return refuse("tier_locked" if tiers else "unknown_tier")


def _wrong_prices(
    account: Account, environment: Environment, offered: list[Tier]
) -> Iterator[Refusal]:
    for tier in offered:
        price = account.prices[environment].get(tier.tier_id)
        outcome = price_seat(tier, price, own_price(account, environment, tier))
        if isinstance(outcome, Refusal):
            yield outcome
