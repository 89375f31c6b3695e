"""The demo's partner: an account that can do everything at once, made through the same commands as any other."""

from collections.abc import Sequence

from pgs.actors.core import Core
from pgs.domain.environments import ENVIRONMENTS
from pgs.operator.ready import ReadyPartner, make_ready, offer_tier

PARTNER_ID = "demo"
GAME = "tic-tac-toe"

FLOOR_USD_CENTS = 100
"""Price of a seat at the demo's tier test-bronze, a dollar, which the README's lines pay."""

PRIZE_USD_CENTS = 180
"""Prize of the demo's tier test-bronze: two stakes without a rake of 20 cents."""

TEST_TIER = "test-bronze"
_TIERS = {"bronze": (FLOOR_USD_CENTS, PRIZE_USD_CENTS), "silver": (500, 900)}  # floor and prize


async def make_partner(core: Core, webhook_url: str, origins: Sequence[str] = ()) -> ReadyPartner:
    """Return the demo's partner, with tiers in both environments for it to play on, and nudges of the test one.

    `origins` may embed its test frame. Raises `NotMade`.
    """
    for environment in ENVIRONMENTS:
        for name, (floor_usd_cents, prize_usd_cents) in _TIERS.items():
            await offer_tier(
                core,
                environment,
                f"{environment}-{name}",
                floor_usd_cents,
                prize_usd_cents,
                name.capitalize(),
            )
    return await make_ready(
        core,
        PARTNER_ID,
        "Demo Partner",
        "admin@demo.example",
        label="demo",
        origins={"test": origins},
        webhooks={"test": webhook_url},
    )
