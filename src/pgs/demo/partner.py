"""Creates the demo's partner, which can play at once, with the usual account commands."""

from collections.abc import Sequence

from pgs.actors.core import Core
from pgs.domain.environments import ENVIRONMENTS
from pgs.operator.ready import ReadyPartner, make_ready, offer_tier

PARTNER_ID = "demo"
GAME = "tic-tac-toe"

FLOOR_USD_CENTS = 100
"""Price of a seat in the demo's tier test-bronze: a dollar. The lines for pasting pay it."""

PRIZE_USD_CENTS = 180
"""Prize of the demo's tier test-bronze: two stakes minus a rake of 20 cents."""

TEST_TIER = "test-bronze"
_TIERS = {"bronze": (FLOOR_USD_CENTS, PRIZE_USD_CENTS), "silver": (500, 900)}  # floor and prize


async def make_partner(core: Core, webhook_url: str, origins: Sequence[str] = ()) -> ReadyPartner:
    """Create the tiers of both environments and the demo's partner; return the partner.

    The partner gets nudges for test matches, and `origins` may embed its test frame. Raises
    `NotMade`.
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
