"""Every refusal of a call with a known key reaches the live stream, whichever check refuses it."""

import trio

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from tests.journeys.client import NOTHING, HeaderList
from tests.journeys.partners import Partner
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process
from tests.patience import PATIENCE_S

DECIDE = "/partner/test/matches/{match_id}/decide"


async def refuse_and_stream(
    service: Service,
    partner: Partner,
    environment: Environment,
    method: str = "GET",
    path: str = "/partner/me",
    headers: HeaderList = (),
) -> tuple[str | None, list[tuple[object, object]]]:
    """Make a call that is refused. Return its reason, and the streamed refusals (path, reason)."""
    activity = service.core.parts.activity
    subscriber = activity.subscribe(partner.partner_id, environment)
    assert subscriber is not None
    key = partner.keys[environment]
    body: object = {} if method == "POST" else NOTHING
    reply = await service.public.call(method, path, key, body, headers=headers)
    events, lost = await subscriber.take(trio.current_time() + PATIENCE_S)
    activity.unsubscribe(partner.partner_id, environment, subscriber)
    refusals = [event for event in events if event.kind == "refusal"]
    assert lost == 0
    assert {"refusal"} <= {event.kind for event in events} <= {"call", "refusal"}
    return reply.reason, [(event.detail["path"], event.detail["reason"]) for event in refusals]


async def test_a_refused_version_reaches_the_live_stream(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        version = [("x-service-api-version", "99")]
        reason = "unsupported_api_version"
        assert await refuse_and_stream(service, partner, "test", headers=version) == (
            reason,
            [("/partner/me", reason)],
        )


async def test_a_refusal_of_an_inactive_account_reaches_the_live_stream(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        await service.account(partner.partner_id, SwitchAccount(PLATFORM, active=False))
        reason = "partner_inactive"
        assert await refuse_and_stream(service, partner, "live") == (
            reason,
            [("/partner/me", reason)],
        )


async def test_a_key_of_the_other_environment_reaches_the_live_stream(place: Place) -> None:
    async with in_process(place, restrict_environment="live") as service:
        partner = await service.partner()
        reason = "test_key_against_live"
        assert await refuse_and_stream(service, partner, "test") == (
            reason,
            [("/partner/me", reason)],
        )


async def test_a_revoked_key_reaches_the_live_stream(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        revoke = RevokeKey(PLATFORM, partner.key_ids["test"])
        await service.account(partner.partner_id, revoke)
        reason = "invalid_key"
        assert await refuse_and_stream(service, partner, "test") == (
            reason,
            [("/partner/me", reason)],
        )


async def test_a_live_key_on_a_call_for_test_keys_reaches_the_live_stream(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        reason = "test_key_required"
        path = DECIDE.format(match_id="mat_x")
        assert await refuse_and_stream(service, partner, "live", "POST", path) == (
            reason,
            [(DECIDE, reason)],
        )


async def test_a_refusal_of_the_handler_reaches_the_live_stream_once(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        reason = "match_not_found"
        assert await refuse_and_stream(service, partner, "test", path="/partner/matches/mat_x") == (
            reason,
            [("/partner/matches/{match_id}", reason)],
        )
