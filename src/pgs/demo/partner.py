"""Creates the demo's partner, ready to play, with the usual account commands."""

from collections.abc import Sequence

from pgs.actors.core import Core
from pgs.actors.messages.account.webhooks import SaveWebhook, WebhookSaved
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.members import PLATFORM
from pgs.operator.ready_partners import NotMade, ReadyPartner, make_ready, offer_tier

PARTNER_ID = "demo"
GAME = "tic-tac-toe"

FLOOR_USD_CENTS = 100
"""Price of a seat in the demo's tier test-bronze: a dollar. The lines for pasting pay it."""

PRIZE_USD_CENTS = 180
"""Prize of the demo's tier test-bronze: two stakes minus a rake of 20 cents."""

TEST_TIER = "test-bronze"
_TIERS = {"bronze": (FLOOR_USD_CENTS, PRIZE_USD_CENTS), "silver": (500, 900)}  # floor and prize


async def make_partner(core: Core, origins: Sequence[str] = ()) -> ReadyPartner:
    """Create the tiers of both environments and the demo's partner; return the partner.

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
    )


async def add_webhook(core: Core, url: str) -> str:
    """Let the partner get nudges for test matches from now on; return the endpoint's secret.

    Raises `NotMade`.
    """
    account = core.directory.partner(PARTNER_ID).account()
    saved = await account.ask(SaveWebhook(PLATFORM, "test", url))
    if not isinstance(saved, WebhookSaved) or not saved.secret:
        raise NotMade(f"the demo's webhook: {saved}")
    return saved.secret
