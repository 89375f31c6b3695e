"""A deployment that serves only one environment."""

import pytest

from tests.journeys.admin_client import open_admin
from tests.journeys.client import check_refusal, ok
from tests.journeys.partners import seat_body
from tests.journeys.places import Place
from tests.journeys.service import SharedService, in_process


def test_a_live_deployment_refuses_test_keys(live_only: SharedService) -> None:
    partner = live_only.partner()
    for method, path in (
        ("GET", "/partner/me"),
        ("GET", "/partner/results"),
        ("POST", "/partner/test/matches/mat_x/decide"),
    ):
        reply = live_only.client.call(
            method, path, partner.test, *([{}] if method == "POST" else [])
        )
        check_refusal(reply, 403, "test_key_against_live")
        assert reply.version == 1
        assert reply.header("ratelimit") is not None


def test_a_live_deployment_serves_live_keys(live_only: SharedService) -> None:
    partner = live_only.partner()
    assert ok(live_only.client.call("GET", "/partner/me", partner.live))["environment"] == "live"
    assert (
        ok(
            live_only.client.call("POST", "/partner/matches", partner.live, seat_body("alice", "a"))
        )["status"]
        == "waiting"
    )


async def test_a_test_deployment_refuses_live_keys_and_serves_test_keys(place: Place) -> None:
    async with in_process(place, restrict_environment="test") as service:
        partner = await service.partner()
        for method, path in (("GET", "/partner/me"), ("POST", "/partner/matches")):
            reply = await service.public.call(method, path, partner.live, {})
            check_refusal(reply, 403, "live_key_against_test")
        ok(
            await service.public.call(
                "POST", "/partner/matches", partner.test, seat_body("alice", "a")
            )
        )


@pytest.mark.parametrize("environment", ["test", "live"])
def test_an_unrestricted_deployment_serves_both_environments(
    shared: SharedService, environment: str
) -> None:
    partner = shared.partner()
    key = partner.test if environment == "test" else partner.live
    assert ok(shared.client.call("GET", "/partner/me", key))["environment"] == environment


async def test_the_other_environments_keys_can_still_be_managed(place: Place) -> None:
    async with open_admin(place, restrict_environment="live") as admin:
        made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "other"})
        check_refusal(
            await admin.service.public.call("GET", "/partner/me", made["apiKey"]),
            403,
            "test_key_against_live",
        )
        rotated = await admin.call_ok("POST", f"keys/{made['keyId']}/rotate")
        for key_id in (made["keyId"], rotated["keyId"]):
            await admin.call_ok("DELETE", f"keys/{key_id}")
        check_refusal(
            await admin.service.public.call("GET", "/partner/me", made["apiKey"]),
            401,
            "invalid_key",
        )
        assert {key["status"] for key in (await admin.call_ok("GET", "keys"))["keys"]} == {
            "revoked"
        }
