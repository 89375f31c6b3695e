"""The frame that the portal shows: below the portal's address, for test alone."""

import html
import json
import re
from pathlib import Path

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.members import PLATFORM
from tests.http.embed.embedding import embedding_service, policy
from tests.journeys.partners import account

ISSUER = {"identity_issuer": "https://login.example", "identity_client_id": "portal"}


async def test_only_the_portals_own_origin_may_frame_it_whatever_is_registered(
    tmp_path: Path,
) -> None:
    async with embedding_service(tmp_path, **ISSUER) as service:
        for partner in ("acme", "bare"):
            reply = await service.public.call("GET", f"/portal/frame/test/{partner}")
            assert reply.status == 200, reply
            rules = policy(reply.header("content-security-policy"))
            assert rules["frame-ancestors"] == ["'self'"]
            assert rules["default-src"] == ["'none'"]
            assert "unsafe" not in str(rules)
            assert reply.header("cache-control") == "no-store"
            assert reply.header("set-cookie") is None
            assert reply.header("x-service-api-version") is None
            found = re.search(r'name="pgs-frame" content="([^"]*)"', reply.content.decode())
            assert found
            data = json.loads(html.unescape(found[1]))
            assert data["origins"] == [service.public.base_url]
            assert (data["partnerId"], data["environment"]) == (partner, "test")


async def test_every_other_path_below_it_is_a_bare_404(tmp_path: Path) -> None:
    async with embedding_service(tmp_path, **ISSUER) as service:
        for path in (
            "/portal/frame",
            "/portal/frame/",
            "/portal/frame/acme",
            "/portal/frame/live/acme",
            "/portal/frame/test/",
            "/portal/frame/test/nobody",
            "/portal/frame/test/acme/",
            "/portal/frame/test/acme/logo/0",
            "/portal/fr%61me/test/acme",
            "/portal/frame/test/pgs-embed.js",
        ):
            reply = await service.public.call("GET", path)
            assert (path, reply.status, reply.content) == (path, 404, b"")


async def test_an_account_that_is_off_has_no_such_frame_and_other_methods_are_refused(
    tmp_path: Path,
) -> None:
    async with embedding_service(tmp_path, **ISSUER) as service:
        path = "/portal/frame/test/acme"
        assert (await service.public.call("POST", path, body={})).status == 405
        await account(service.core, "acme", SwitchAccount(PLATFORM, False))
        assert (await service.public.call("GET", path)).status == 404


async def test_without_a_portal_there_is_no_such_frame(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        assert (await service.public.call("GET", "/portal/frame/test/acme")).status == 404


async def test_the_frames_of_partners_pages_stay_closed_to_the_portal(tmp_path: Path) -> None:
    async with embedding_service(tmp_path, **ISSUER) as service:
        reply = await service.public.call("GET", "/embed/test/acme")
        rules = policy(reply.header("content-security-policy"))
        assert "'self'" not in rules["frame-ancestors"]
