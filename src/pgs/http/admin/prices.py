"""What the account asks for a seat, tier by tier."""

import msgspec

from pgs.actors.messages.account.settings import SetPrices
from pgs.domain.accounts import Account
from pgs.http.admin.gate import AdminCall, account_now, change
from pgs.http.admin.paths import environment_of
from pgs.http.api.body import Cents
from pgs.http.api.endpoint import Answer, Endpoint


class Prices(msgspec.Struct, frozen=True):
    """US cents by tier id: of priced tiers alone."""

    prices: dict[str, Cents]


def _record(call: AdminCall, account: Account) -> Prices:
    return Prices(
        {
            tier_id: price.entry_usd_cents
            for tier_id, price in sorted(account.prices[environment_of(call)].items())
        }
    )


async def read_prices(call: AdminCall) -> Answer:
    """Return the prices as they were set."""
    return _record(call, account_now(call))


async def set_prices(call: AdminCall) -> Answer:
    """Replace the whole map."""
    body: Prices = call.body
    reply = await change(call, SetPrices, environment_of(call), body.prices)
    return _record(call, reply) if isinstance(reply, Account) else reply


_PATH = "/partner/admin/prices/{env}"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=read_prices,
        response=Prices,
        credential="identity",
        summary="The prices of an environment",
    ),
    Endpoint(
        method="PUT",
        path=_PATH,
        handler=set_prices,
        request=Prices,
        response=Prices,
        credential="identity",
        errors=(
            "unknown_tier",
            "below_floor",
            "stake_above_prize",
            "settlement_unavailable",
            "partner_changed",
        ),
        summary="Replace the prices of an environment",
    ),
)
