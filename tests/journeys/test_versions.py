"""Which version answers a call, and which version the answer names."""

import msgspec
import pytest

from pgs.domain.versions import ServedVersions
from tests.journeys.client import SyncClient, check_refusal, ok
from tests.journeys.partners import Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import in_process
from tests.journeys.ways import both_ways

shared = both_ways()

HEADER = "X-Service-Api-Version"
NAMES_NOTHING = [
    "2",
    "0",
    "01",
    "v1",
    "V1",
    "1.0",
    "+1",
    "-1",
    "1,1",
    "1 1",
    "0x1",
    "1e0",
    "\u0661",
    "\uff11",
    "",
    "one",
    "9" * 400,
    "1_0",
    "\xb9",
]


@pytest.mark.parametrize("value", NAMES_NOTHING)
def test_a_header_that_names_no_served_version_is_refused_and_stamped_with_the_pin(
    client: SyncClient, known: Partner, value: str
) -> None:
    for path in ("/partner/me", "/partner/results?cursor=wrong"):
        reply = client.call("GET", path, known.test, headers=[(HEADER, value)])
        check_refusal(reply, 400, "unsupported_api_version")
        assert reply.version == 1
        assert reply.header("ratelimit") is not None


@pytest.mark.parametrize("header", [None, "1"])
def test_a_call_is_answered_in_the_named_version_or_else_in_the_pinned_one(
    client: SyncClient, known: Partner, header: str | None
) -> None:
    reply = client.call(
        "GET", "/partner/me", known.test, headers=[] if header is None else [(HEADER, header)]
    )
    assert (ok(reply)["apiVersion"], reply.version) == (1, 1)


def test_a_repeated_version_header_is_refused(client: SyncClient, known: Partner) -> None:
    reply = client.call("GET", "/partner/me", known.test, headers=[(HEADER, "1"), (HEADER, "1")])
    check_refusal(reply, 400, "unsupported_api_version")


@pytest.mark.parametrize(("value", "status"), [(b" 1 ", 200), (b"\t1", 200), (b"1 \t1", 400)])
def test_whitespace_around_a_version_is_ignored_and_within_it_is_refused(
    client: SyncClient, known: Partner, value: bytes, status: int
) -> None:
    request = (
        b"GET /partner/me HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        b"Authorization: Bearer %s\r\nX-Service-Api-Version:%s\r\n\r\n"
    )
    reply = client.raw(request % (known.test.encode(), value), "/partner/me")
    assert reply.status == status


def test_nothing_is_done_for_an_unserved_version(client: SyncClient, partner: Partner) -> None:
    reply = client.call(
        "POST", "/partner/matches", partner.test, seat_body("alice", "a"), headers=[(HEADER, "2")]
    )
    check_refusal(reply, 400, "unsupported_api_version")
    reply = client.call("POST", "/partner/matches", partner.test, seat_body("alice", "a"))
    assert ok(reply)["status"] == "waiting"
    assert reply.header("idempotent-replayed") is None


async def test_each_environment_has_a_pin_of_its_own(place: Place) -> None:
    async with in_process(place, versions=ServedVersions(frozenset({1, 2}), 2)) as service:
        partner = await service.partner()
        registry = service.core.parts.registry
        account = registry.account(partner.partner_id)
        assert account is not None
        registry.publish(msgspec.structs.replace(account, pins={"test": 2, "live": 1}))
        call = service.public.call
        for key, header, version in (
            (partner.test, None, 2),
            (partner.live, None, 1),
            (partner.test, "1", 1),
            (partner.live, "2", 2),
        ):
            reply = await call(
                "GET", "/partner/me", key, headers=[] if header is None else [(HEADER, header)]
            )
            assert (ok(reply)["apiVersion"], reply.version) == (version, version)
            reply = await call(
                "GET",
                "/partner/results?limit=0",
                key,
                headers=[] if header is None else [(HEADER, header)],
            )
            assert (reply.status, reply.version) == (400, version)
        for key, pin in ((partner.test, 2), (partner.live, 1)):
            for value in ("3", "0", "v2"):
                reply = await call("GET", "/partner/me", key, headers=[(HEADER, value)])
                check_refusal(reply, 400, "unsupported_api_version")
                assert reply.version == pin


async def test_a_new_account_is_pinned_to_the_current_version(place: Place) -> None:
    async with in_process(place, versions=ServedVersions(frozenset({1, 2}), 2)) as service:
        partner = await service.partner()
        for key in (partner.test, partner.live):
            reply = await service.public.call("GET", "/partner/me", key)
            assert (ok(reply)["apiVersion"], reply.version) == (2, 2)


async def test_an_answer_without_an_account_is_stamped_with_the_current_version(
    place: Place,
) -> None:
    async with in_process(place, versions=ServedVersions(frozenset({1, 2}), 2)) as service:
        partner = await service.partner()
        registry = service.core.parts.registry
        account = registry.account(partner.partner_id)
        assert account is not None
        registry.publish(msgspec.structs.replace(account, pins={"test": 1, "live": 1}))
        for method, path, key, header in (
            ("GET", "/partner/me", "pgs_test_no", None),
            ("GET", "/partner/me", None, "1"),
            ("GET", "/partner/nothing", partner.live, None),
            ("GET", "/partner/nothing", None, "1"),
            ("GET", "/partner", None, None),
            ("GET", "/embed/nobody", None, None),
        ):
            reply = await service.public.call(
                method, path, key, headers=[] if header is None else [(HEADER, header)]
            )
            assert (reply.status, reply.version) == (401 if path == "/partner/me" else 404, 2)
