"""The prices that the account charges for a seat, by tier."""

import msgspec

from pgs.actors.messages.account.settings import SetPrices
from pgs.domain.accounts import Account
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_read, admin_write
from pgs.http.admin.paths import environment_of
from pgs.http.api.body import Cents
from pgs.http.api.endpoint import Answer


class Prices(msgspec.Struct, frozen=True):
    """US cents by tier id, for the tiers that have a price."""

    prices: dict[str, Cents]


def _record(call: AdminCall, account: Account) -> Prices:
    return Prices(
        {
            tier_id: price.entry_usd_cents
            for tier_id, price in sorted(account.prices[environment_of(call)].items())
        }
    )


async def read_prices(call: AdminCall) -> Answer:
    """Return the prices that were set."""
    return _record(call, account_now(call))


async def set_prices(call: AdminCall) -> Answer:
    """Replace all prices of an environment."""
    body: Prices = call.body
    reply = await change(call, SetPrices, environment_of(call), body.prices)
    return _record(call, reply) if isinstance(reply, Account) else reply


ENDPOINTS = (
    admin_read("prices/{env}", read_prices, Prices, "The prices of an environment"),
    admin_write(
        "PUT",
        "prices/{env}",
        set_prices,
        Prices,
        "Replace the prices of an environment",
        request=Prices,
        errors=("unknown_tier", "below_floor", "stake_above_prize", "settlement_unavailable"),
    ),
)
