"""Checks of every row of the endpoint table, including new rows."""

import msgspec
import pytest

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import SetRate
from pgs.domain.errors import ERRORS
from pgs.domain.members import PLATFORM
from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import ENDPOINTS
from tests.journeys.client import NOTHING, Reply, SyncClient, check_refusal
from tests.journeys.partners import Partner
from tests.journeys.places import Place
from tests.journeys.service import SharedService, in_process


def _named(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def _path(endpoint: Endpoint) -> str:
    return "/".join(
        "unknown" if word.startswith("{") else word for word in endpoint.path.split("/")
    )


def _call(
    client: SyncClient, endpoint: Endpoint, key: str | None, version: str | None = None
) -> Reply:
    headers = [] if version is None else [("X-Service-Api-Version", version)]
    body = NOTHING if endpoint.request is None else {}
    return client.call(endpoint.method, _path(endpoint), key, body, headers=headers)


every_route = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=_named)


@every_route
def test_a_call_without_a_key_is_refused(client: SyncClient, endpoint: Endpoint) -> None:
    reply = _call(client, endpoint, None)
    check_refusal(reply, 401, "invalid_key")
    assert (reply.version, reply.header("www-authenticate")) == (1, "Bearer")


@every_route
def test_a_revoked_key_is_refused(shared: SharedService, endpoint: Endpoint) -> None:
    partner = shared.partner()
    shared.account(partner, RevokeKey(PLATFORM, partner.key_ids["test"]))
    check_refusal(_call(shared.client, endpoint, partner.test), 401, "invalid_key")
    assert _call(shared.client, endpoint, partner.live).status != 401


@every_route
def test_a_switched_off_account_is_refused(shared: SharedService, endpoint: Endpoint) -> None:
    partner = shared.partner()
    shared.account(partner, SwitchAccount(PLATFORM, False))
    for key in (partner.test, partner.live):
        check_refusal(_call(shared.client, endpoint, key), 403, "partner_inactive")


@every_route
def test_a_call_on_an_empty_bucket_is_refused(shared: SharedService, endpoint: Endpoint) -> None:
    partner = shared.partner(burst=10)
    shared.drain(partner)
    reply = _call(shared.client, endpoint, partner.test)
    check_refusal(reply, 429, "rate_limited")
    assert reply.header("ratelimit") is not None


@every_route
def test_every_accepted_call_takes_one_token_and_is_stamped_with_the_version(
    shared: SharedService, endpoint: Endpoint
) -> None:
    partner = shared.partner()
    shared.account(partner, SetRate(PLATFORM, 300, 1))
    for left in (299, 298):
        reply = _call(shared.client, endpoint, partner.test)
        assert reply.status < 500
        assert reply.version == 1
        assert reply.left in (left, left + 1)


@every_route
def test_an_unserved_version_is_refused(
    client: SyncClient, known: Partner, endpoint: Endpoint
) -> None:
    reply = _call(client, endpoint, known.test, "2")
    check_refusal(reply, 400, "unsupported_api_version")
    assert reply.version == 1


@every_route
def test_an_endpoint_for_test_keys_only_refuses_live_keys(
    client: SyncClient, known: Partner, endpoint: Endpoint
) -> None:
    other = known.live if endpoint.only_key == "test" else known.test
    reply = _call(client, endpoint, other)
    if endpoint.only_key is None:
        assert reply.reason != "test_key_required"
    else:
        assert (reply.status, reply.reason) == (403, endpoint.wrong_key)


@every_route
def test_every_declared_reason_is_in_the_catalogue(endpoint: Endpoint) -> None:
    declared = {*endpoint.errors, *([endpoint.crash] if endpoint.crash else [])}
    assert declared <= ERRORS.keys()
    assert len(endpoint.errors) == len(set(endpoint.errors))
    if endpoint.launch:
        assert {
            "game_not_licensed",
            "game_not_licensed_in_this_environment",
            "malformed_player_id",
        } <= declared
    if endpoint.only_key is not None:
        assert endpoint.wrong_key in declared


@every_route
def test_every_endpoint_declares_a_summary_and_its_body_and_response_types(
    endpoint: Endpoint,
) -> None:
    assert endpoint.summary
    assert issubclass(endpoint.response, msgspec.Struct)
    assert (endpoint.request is not None) or not (endpoint.launch or endpoint.spellings)
    assert endpoint.path.startswith("/partner/")


def test_no_two_endpoints_share_a_method_and_a_path() -> None:
    assert len({(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}) == len(ENDPOINTS)


async def test_a_closed_registry_answers_every_route_with_registry_unavailable(
    place: Place,
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        service.close_registries()
        for endpoint in ENDPOINTS:
            for key in (partner.test, partner.live):
                body = NOTHING if endpoint.request is None else {}
                reply = await service.public.call(endpoint.method, _path(endpoint), key, body)
                check_refusal(reply, 500, "registry_unavailable")
                assert (reply.version, reply.header("ratelimit")) == (1, None)
            check_refusal(
                await service.public.call(endpoint.method, _path(endpoint), partner.test[:-1]),
                401,
                "invalid_key",
            )
        assert (await service.public.call("GET", "/partner/nothing", partner.test)).status == 404
