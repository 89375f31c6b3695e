"""A partner's prices after the floor and the prize of a tier have changed."""

from typing import Any

from pgs.actors.messages.account.settings import SetPrices
from pgs.actors.messages.catalogue import SetTier
from pgs.domain.members import PLATFORM
from tests.journeys.admin_client import open_admin
from tests.journeys.client import check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE, SILVER, SILVER_CENTS, TEST_TIER, Partner
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process


async def _silver(service: Service, key: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the tier as `GET tiers` shows it, and the prices as `GET me` shows them."""
    ladder = ok(await service.public.call("GET", f"/partner/tiers?gameId={BOTH}", key))
    (tier,) = (tier for tier in ladder["tiers"] if tier["tierId"] == SILVER)
    return tier, ok(await service.public.call("GET", "/partner/me", key))["prices"]


async def _set_silver(service: Service, floor: int, prize: int) -> None:
    await service.set_tier(SetTier("test", SILVER, None, floor, prize))


async def _set_price(service: Service, partner: Partner) -> None:
    await service.account(partner.partner_id, SetPrices(PLATFORM, "test", {SILVER: SILVER_CENTS}))


async def test_a_price_that_no_longer_fits_its_tier_is_shown_nowhere_until_it_is_set_again(
    place: Place,
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        await _set_silver(service, SILVER_CENTS + 10, 2 * SILVER_CENTS)
        tier, prices = await _silver(service, partner.test)
        assert (tier["priced"], tier["entryUsdCents"], prices) == (False, SILVER_CENTS + 10, {})
        await _set_silver(
            service, 100, 200
        )  # the price would fit again, but nobody has set it again
        tier, prices = await _silver(service, partner.test)
        assert (tier["priced"], tier["entryUsdCents"], prices) == (False, 100, {})
        await _set_price(service, partner)
        tier, prices = await _silver(service, partner.test)
        assert (tier["priced"], tier["entryUsdCents"], prices) == (
            True,
            SILVER_CENTS,
            {SILVER: SILVER_CENTS},
        )
        tier, prices = await _silver(
            service, partner.live
        )  # the tier of the other environment has not changed
        assert (tier["priced"], prices) == (True, {SILVER: SILVER_CENTS})


async def test_tiers_are_sorted_by_the_partners_price_and_then_by_id(
    place: Place,
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        for tier_id, floor in (
            ("a-dear", 900),
            ("b-priced", 100),
            ("z-cheap", 50),
            ("y-cheap", 50),
        ):
            await service.set_tier(SetTier("test", tier_id, None, floor, 2 * floor))
        await service.account(partner.partner_id, SetPrices(PLATFORM, "test", {"b-priced": 200}))
        ladder = ok(
            await service.public.call("GET", f"/partner/tiers?gameId={BOTH}", partner.test)
        )["tiers"]
        costs = [(tier["entryUsdCents"], tier["tierId"]) for tier in ladder]
        assert costs == [
            (50, "y-cheap"),
            (50, "z-cheap"),
            (100, BRONZE),
            (100, TEST_TIER),
            (100, SILVER),
            (200, "b-priced"),
            (900, "a-dear"),
        ]


async def test_members_read_every_tier_beside_the_price_that_they_have_set(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
        await admin.add_member("val", "viewer", "none")
        set_tier = admin.service.set_tier
        for tier_id, floor, prize in (("gold", 1000, 1800), ("mad", 10, 900), ("tin", 100, 180)):
            await set_tier(SetTier("test", tier_id, tier_id.title(), floor, prize))
        await admin.command(SetPrices(PLATFORM, "test", {"gold": 1700, "tin": 120}))
        await set_tier(SetTier("test", "gold", None, 1000, 1600))
        check_refusal(
            await admin.call("GET", "tiers"), 400, "missing_parameter", parameter="environment"
        )
        told = await admin.call_ok("GET", "tiers?environment=test", who="val")
        live = await admin.call_ok("GET", "tiers?environment=live", who="val")
    mine = ("mad", "tin", "gold")
    assert not {tier["tierId"] for tier in live["tiers"]} & {*mine}
    mad, tin, gold = (tier for tier in told["tiers"] if tier["tierId"] in mine)
    games = tin.pop("games")
    assert BOTH in games
    assert tin == {
        "tierId": "tin",
        "name": "Tin",
        "floorUsdCents": 100,
        "prizeUsdCents": 180,
        "priceUsdCents": 120,
        "inForce": True,
        "entryUsdCents": 120,
    }
    assert (gold["priceUsdCents"], gold["inForce"], gold["entryUsdCents"]) == (1700, False, 1000)
    # A tier that pays out more than two floors is on offer for no game.
    assert ("priceUsdCents" in mad, mad["entryUsdCents"], mad["games"]) == (False, 10, [])
