"""Hostile members: odd values in fields and paths of the admin API do no harm."""

import json
from typing import Any

import msgspec
import pytest

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.shared import admission
from pgs.domain.token_buckets import BucketPolicy
from pgs.http.admin import ENDPOINTS
from pgs.http.api.endpoint import Endpoint
from tests.journeys.admin_client import BOSS, AdminClient, open_admin, person
from tests.journeys.bodies import NO_OBJECT, NOT_INTEGERS
from tests.journeys.client import check_refusal, ok
from tests.journeys.places import Place

VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**53,
    2**63,
    -(2**70),
    "",
    " ",
    "\t\n",
    "x" * 1000,
    "'; drop table member; --",
    "../../etc/passwd",
    "\u202eabc",
    "\u0661\u0662\u0663\u0664\u0665\u0666",
    "é@é.example",
    "a@b.example\r\nBcc: c@d.example",
    "https://[::1",
    "https://a.example:99999",
    "javascript:alert(1)",
    [],
    [[]],
    {},
    {"": 1},
    {"bronze": None},
    {"x" * 100: 1},
    {"bronze": {"bronze": 1}},
]
RAW = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"1e999",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b'{"environment":"test","environment":"live"}',
    b'{"role":"\\ud800"}',
    b'{"label":"\\u0000"}',
    b"[" * 10_000,
    b'{"a":' * 5_000,
    b'{"code":' + b"9" * 20_000 + b"}",
]
NAMES = [
    "%00",
    "%FF",
    "%ED%A0%80",
    "%2e%2e",
    "..",
    "a%2Fb",
    "%25",
    "x" * 2000,
    "%C3%A9",
    "%27%20or%201=1",
    "boss%20",
    "BOSS",
    "%E2%80%AEboss",
]

GOOD: dict[str, Any] = {
    "gameId": "tic-tac-toe",
    "tierId": "bronze",
    "stakeUsdCents": 100,
    "environment": "test",
    "label": "x",
    "origin": "http://localhost",
    "domain": "acme.example",
    "version": 1,
    "prices": {},
    "url": "https://hooks.acme.com/",
    "role": "viewer",
    "email": "x@acme.example",
    "code": "000000",
    "displayName": "Acme",
    "primaryColor": "#1f5fd1",
    "backgroundColor": "#ffffff",
    "textColor": "#1c1f24",
    "cornerRadius": 8,
    "showAmounts": True,
    "logo": None,
}


@pytest.fixture(autouse=True)
def wide_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the one admin who makes all these calls room for them."""
    monkeypatch.setattr(admission, "PARTNER_POLICY", BucketPolicy(burst=100_000, rate=100_000))


def path_of(endpoint: Endpoint, name: str = "nothing") -> str:
    path = endpoint.path.removeprefix("/partner/admin/").replace("{env}", "test")
    return "/".join(name if word.startswith("{") else word for word in path.split("/"))


async def check_still_works(admin: AdminClient) -> None:
    """Check that the account still works and that the service reports itself ready."""
    account = admin.service.core.parts.registry.account("acme")
    assert account is not None
    assert account.members[BOSS].role == "admin"
    assert (await admin.call_ok("GET", "account"))["role"] == "admin"
    for noun in (
        "keys",
        "members",
        "invites",
        "events",
        "games",
        "origins",
        "prices/test",
        "webhooks/test",
        "rake-terms",
    ):
        await admin.call_ok("GET", noun)


async def test_odd_values_in_any_field_cause_no_server_error(place: Place) -> None:
    async with open_admin(place) as admin:
        await admin.add_member("spare", "admin")
        wrong, calls = [], 0
        for endpoint in ENDPOINTS:
            if endpoint.request is None:
                continue
            fields = [field.encode_name for field in msgspec.structs.fields(endpoint.request)]
            for name in fields:
                for value in VALUES:
                    body = {field: value if field == name else GOOD[field] for field in fields}
                    reply = await admin.call(endpoint.method, path_of(endpoint), body)
                    calls += 1
                    if reply.status >= 500 or reply.status == 401:
                        wrong.append((endpoint.method, endpoint.path, name, value, reply.status))
                if endpoint.path.endswith("/totp/verify"):
                    await admin.set_standing(
                        BOSS, "fresh"
                    )  # wrong codes lock the authenticator; a lock affects nothing else
            await admin.call_ok("POST", "account/reactivate") if not (
                await admin.call_ok("GET", "account")
            )["active"] else None
        assert wrong == []
        assert calls > 250
        await check_still_works(admin)


async def test_every_malformed_body_is_refused_without_a_server_error(place: Place) -> None:
    async with open_admin(place) as admin:
        before = await admin.call_ok("GET", "account")
        for endpoint in ENDPOINTS:
            if endpoint.request is None:
                continue
            for raw in RAW:
                reply = await admin.call(endpoint.method, path_of(endpoint), content=raw)
                assert reply.status in (400, 413) or (reply.status, raw) == (404, b""), (
                    endpoint.path,
                    raw[:20],
                    reply.status,
                )
        large = json.dumps({"label": "x" * 70_000, "environment": "test"}).encode()
        assert (await admin.call("POST", "keys", content=large)).status == 413
        assert await admin.call_ok("GET", "account") == before


async def test_every_endpoint_reads_its_body_as_strictly_as_the_key_api(place: Place) -> None:
    """Bad encodings, depths, repeated names, NUL, lone surrogates and odd numbers are a plain 400.

    This holds whatever else is wrong with the call.
    """
    async with open_admin(place) as admin:
        before, integers, wrong = await admin.call_ok("GET", "account"), 0, []

        async def check(endpoint: Endpoint, content: bytes, names: str = "") -> None:
            reply = await admin.call(endpoint.method, path_of(endpoint), content=content)
            if (reply.status, reply.reason) != (400, None) or names not in reply.json["error"]:
                wrong.append(
                    (
                        endpoint.method,
                        endpoint.path,
                        content[:80],
                        reply.status,
                        reply.content[:120],
                    )
                )

        for endpoint in ENDPOINTS:
            if endpoint.request is None:
                continue
            whole = {
                field.encode_name: GOOD[field.encode_name]
                for field in msgspec.structs.fields(endpoint.request)
            }
            for content in NO_OBJECT:
                if (
                    content or endpoint.method != "DELETE"
                ):  # without a body, a DELETE takes its fields from the query
                    await check(endpoint, content)
            inner = json.dumps(whole)[1:-1]
            for text in ("\\u0000", "\\ud800"):
                await check(endpoint, f'{{"{text}": 1, {inner}}}'.encode())
                await check(endpoint, f'{{{inner}, "deep": {{"er": ["{text}"]}}}}'.encode())
            for field, value in whole.items():
                again = f'"{field}": {json.dumps(value)}'
                await check(endpoint, f"{{{again}, {inner}}}".encode(), f"`{field}`")
                if type(value) is int or field == "prices":
                    integers += 1
                    for number in NOT_INTEGERS:
                        odd = f'{{"bronze": {number}}}' if field == "prices" else number
                        others = json.dumps(
                            {name: other for name, other in whole.items() if name != field}
                        )[1:-1]
                        await check(
                            endpoint,
                            f'{{"{field}": {odd}{", " if others else ""}{others}}}'.encode(),
                            f"`{field}",
                        )
        assert wrong == []
        assert (
            integers == 5
        )  # prices, the version of terms, the version pin, the corners, the stake
        assert await admin.call_ok("GET", "account") == before


async def test_unknown_names_in_paths_are_not_found(place: Place) -> None:
    async with open_admin(place) as admin:
        before = await admin.call_ok("GET", "account")
        bodies = {"PATCH": b'{"role":"viewer"}'}
        for endpoint in ENDPOINTS:
            if "{" not in endpoint.path.replace("{env}", ""):
                continue
            for name in NAMES:
                reply = await admin.call(
                    endpoint.method, path_of(endpoint, name), content=bodies.get(endpoint.method)
                )
                assert reply.status in (400, 404), (
                    endpoint.method,
                    endpoint.path,
                    name,
                    reply.status,
                    reply.content,
                )
        assert await admin.call_ok("GET", "account") == before
        await check_still_works(admin)


async def test_the_records_of_another_account_are_not_found(place: Place) -> None:
    async with open_admin(place) as admin:
        made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "ours"})
        invite = await admin.call_ok(
            "POST", "invites", {"email": "x@acme.example", "role": "viewer"}
        )
        cursor = (await admin.call_ok("GET", "events?limit=1"))["nextCursor"]
        theirs = await admin.command(CreatePartner("Bravo", person("eve").email), "bravo")
        await admin.call_ok("POST", f"invites/{theirs.invite_id}/accept", who="eve")
        await admin.enrol("eve")
        check_refusal(
            await admin.call("DELETE", f"keys/{made['keyId']}", who="eve"), 404, "key_not_found"
        )
        check_refusal(
            await admin.call("POST", f"keys/{made['keyId']}/rotate", who="eve"),
            404,
            "key_not_found",
        )
        check_refusal(
            await admin.call("DELETE", f"invites/{invite['inviteId']}", who="eve"),
            404,
            "invite_not_found",
        )
        check_refusal(
            await admin.call("DELETE", f"members/{BOSS}", who="eve"), 404, "member_not_found"
        )
        check_refusal(
            await admin.call("PATCH", f"members/{BOSS}", {"role": "viewer"}, who="eve"),
            404,
            "member_not_found",
        )
        check_refusal(
            await admin.call("GET", f"events?cursor={cursor}", who="eve"), 400, "invalid_cursor"
        )
        assert (await admin.call_ok("GET", "keys", who="eve"))["keys"] == []
        assert [
            member["uid"]
            for member in (await admin.call_ok("GET", "members", who="eve"))["members"]
        ] == ["eve"]
        ok(await admin.service.public.call("GET", "/partner/me", made["apiKey"]))
