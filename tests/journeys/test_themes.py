"""Themes: written with a test key or by a member, and shown to the players' frames."""

import base64
import hashlib
from typing import Any

import pytest
from msgspec.structs import replace

from pgs.actors.messages.account.settings import SetTheme
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from pgs.domain.themes import DEFAULT, StoredTheme
from tests.http.embed.embedding import embedding_service
from tests.http.test_logos import picture
from tests.journeys.admin_client import BOSS, open_admin
from tests.journeys.client import Reply, SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import Partner
from tests.journeys.places import Place
from tests.journeys.play import mint_sync
from tests.journeys.service import SharedService
from tests.journeys.ways import both_ways

shared = both_ways()

LOGO = picture("PNG")
SENT: dict[str, Any] = {
    "displayName": "Acme Games",
    "primaryColor": "#AA0000",
    "backgroundColor": "#000000",
    "textColor": "#ffffff",
    "cornerRadius": 0,
    "showAmounts": False,
    "logo": {"mime": "image/png", "base64": base64.b64encode(LOGO).decode()},
}
STORED_LOGO = {"sha256": hashlib.sha256(LOGO).hexdigest(), "bytes": len(LOGO)}
PLAIN: dict[str, Any] = {
    "displayName": "",
    "primaryColor": "#1f5fd1",
    "backgroundColor": "#ffffff",
    "textColor": "#1c1f24",
    "cornerRadius": 8,
    "showAmounts": True,
    "logo": None,
}


def put(client: SyncClient, key: str, body: object) -> Reply:
    return client.call("PUT", "/partner/theme", key, body)


def test_a_test_key_replaces_the_whole_theme_of_test_and_no_other(
    shared: SharedService,
) -> None:
    partner, client = shared.partner(), shared.client
    default = ok(client.call("GET", "/partner/theme", partner.test))
    assert default == {"environment": "test", **PLAIN, "revision": 0}
    written = ok(put(client, partner.test, SENT))
    at = written.pop("updatedAt")
    logo = {**SENT["logo"], **STORED_LOGO}
    assert written == {"environment": "test", **SENT, "logo": logo, "revision": 1}
    read = ok(client.call("GET", "/partner/theme", partner.test))
    assert read == {**written, "updatedAt": at}
    live = ok(client.call("GET", "/partner/theme", partner.live))
    assert live == {"environment": "live", **PLAIN, "revision": 0}
    again = ok(put(client, partner.test, {"displayName": "Acme"}))
    del again["updatedAt"]
    assert again == {"environment": "test", **PLAIN, "displayName": "Acme", "revision": 2}


def test_the_refusal_of_a_live_key_says_where_to_write_the_theme(
    client: SyncClient, partner: Partner
) -> None:
    reply = put(client, partner.live, "nothing of the body is looked at")
    where = f"{client.base_url}/portal/theme"
    check_refusal(reply, 403, "live_theme_not_writable", changeItAt=where)


@pytest.mark.parametrize(
    ("changes", "reason", "extras"),
    [
        ({"textColor": "#111111"}, "theme_field_invalid", {"parameter": "textColor"}),
        ({"cornerRadius": 33, "logo": None}, "theme_field_invalid", {"parameter": "cornerRadius"}),
        ({"logo": {"mime": "image/gif", "base64": ""}}, "logo_unsupported_type", {}),
        ({"logo": {"mime": "image/webp", "base64": "*"}}, "logo_malformed", {}),
        (
            {"logo": {"mime": "image/png", "base64": "A" * 349_528}},
            "logo_too_large",
            {"maxBytes": 262_144},
        ),
        ({"logo": {"mime": "image/png", "base64": "AAAA"}}, "logo_not_that_image", {}),
    ],
)
def test_a_refused_theme_changes_nothing(
    client: SyncClient, known: Partner, changes: object, reason: str, extras: dict[str, Any]
) -> None:
    assert isinstance(changes, dict)
    check_refusal(put(client, known.test, SENT | changes), 422, reason, **extras)
    assert ok(client.call("GET", "/partner/theme", known.test))["revision"] == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"displayName": None},
        {"cornerRadius": 1.5},
        {"cornerRadius": 2**60},
        {"showAmounts": 1},
        {"logo": "x"},
        {"logo": 1},
    ],
)
def test_a_field_of_the_wrong_type_is_a_plain_400(
    client: SyncClient, known: Partner, changes: dict[str, object]
) -> None:
    check_plain(put(client, known.test, SENT | changes), next(iter(changes)))


def test_a_body_may_have_a_mebibyte_and_no_more(client: SyncClient, known: Partner) -> None:
    body = {"unknown": "x" * ((1 << 20) - 100), "textColor": "red"}
    check_refusal(put(client, known.test, body), 422, "theme_field_invalid", parameter="textColor")
    assert put(client, known.test, {"unknown": "x" * (1 << 20)}).status == 413


def test_a_session_has_the_theme_with_the_address_of_its_logo(shared: SharedService) -> None:
    partner, client = shared.partner(), shared.client
    ok(put(client, partner.test, SENT))
    theme = ok(client.call("GET", "/game/session", mint_sync(client, partner.test, "ann")))["theme"]
    path = f"/embed/test/{partner.partner_id}/logo/{STORED_LOGO['sha256']}"
    assert theme["logo"] == {"mime": "image/png", **STORED_LOGO, "url": client.base_url + path}
    assert {name: theme[name] for name in SENT if name != "logo"} == {
        name: value for name, value in SENT.items() if name != "logo"
    }
    live = ok(client.call("GET", "/game/session", mint_sync(client, partner.live, "ann")))["theme"]
    assert live == {"environment": "live", **PLAIN, "revision": 0}


async def test_members_write_both_environments_with_a_code_and_the_log_says_so(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
        for environment in ("test", "live"):
            written = ok(await admin.call("PUT", f"theme/{environment}", SENT, who=BOSS))
            read = ok(await admin.call("GET", f"theme/{environment}", who=BOSS))
            assert read == written
            assert (written["environment"], written["revision"]) == (environment, 1)
        events = ok(await admin.call("GET", "events", who=BOSS))["events"][:2]
        assert [(event["action"], event["actor"], event["detail"]) for event in events] == [
            ("theme.set", BOSS, {"environment": environment, "themeRevision": 1})
            for environment in ("live", "test")
        ]
        refused = await admin.call("PUT", "theme/live", {"textColor": "#ffffff"}, who=BOSS)
        check_refusal(refused, 422, "theme_field_invalid", parameter="textColor")


async def test_a_logo_is_served_under_its_hash_and_nothing_else_is(place: Place) -> None:
    sha256 = STORED_LOGO["sha256"]
    async with embedding_service(place) as service:

        async def get(path: str, *headers: tuple[str, str]) -> Reply:
            return await service.public.call("GET", path, headers=headers)

        assert (await get(f"/embed/acme/logo/{sha256}")).status == 404
        partner = await service.partner("themed")
        ok(await service.public.call("PUT", "/partner/theme", partner.test, SENT))
        path = f"/embed/test/themed/logo/{sha256}"
        logo = await get(path)
        assert (logo.status, logo.content) == (200, LOGO)
        assert logo.header("content-type") == "image/png"
        assert logo.header("etag") == f'"{sha256}"'
        assert "immutable" in (logo.header("cache-control") or "")
        unchanged = await get(path, ("If-None-Match", f'"{sha256}"'))
        assert (unchanged.status, unchanged.content) == (304, b"")
        assert (await get(path, ("If-None-Match", '"other"'))).status == 200
        for wrong in (
            f"/embed/themed/logo/{sha256}",
            f"/embed/test/themed/logo/{'0' * 64}",
            f"/embed/test/themed/logo/{sha256}/x",
            f"/embed/test/unknown/logo/{sha256}",
        ):
            assert (await get(wrong)).status == 404


@pytest.mark.parametrize("environment", ["live", "test"])
async def test_the_document_holds_the_theme_and_may_load_the_logo(
    environment: Environment, place: Place
) -> None:
    async with embedding_service(place) as service:
        theme = StoredTheme(replace(DEFAULT, display_name="<Acme>"))
        await service.account("acme", SetTheme(PLATFORM, environment, theme))
        path = "/embed/acme" if environment == "live" else "/embed/test/acme"
        document = await service.public.call("GET", path)
        assert "&quot;displayName&quot;:&quot;&lt;Acme&gt;&quot;" in document.content.decode()
        policy = document.header("content-security-policy") or ""
        assert f"img-src 'self' {service.public.base_url} data:" in policy
