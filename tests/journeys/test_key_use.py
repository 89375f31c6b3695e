"""When a key was last used: every call that it authenticates counts, successful or not."""

from pgs.domain.environments import Environment
from tests.journeys.client import check_refusal, ok
from tests.journeys.places import Place
from tests.journeys.service import in_process


async def test_only_calls_that_a_key_authenticates_count_as_its_use(
    place: Place,
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()

        async def used(environment: Environment) -> bool:
            return partner.key_ids[environment] in await service.core.parts.key_uses.of(
                partner.partner_id, tuple(partner.key_ids.values())
            )

        check_refusal(
            await service.public.call("GET", "/partner/me", partner.test[:-1] + "~"),
            401,
            "invalid_key",
        )
        assert not await used("test")
        ok(await service.public.call("GET", "/partner/me", partner.test))
        assert await used("test")
        assert not await used("live")
        check_refusal(
            await service.public.call("GET", "/partner/results?cursor=x", partner.live),
            400,
            "invalid_cursor",
        )
        assert await used("live")
