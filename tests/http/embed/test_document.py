"""The frame's document, its policy, and the files that it loads."""

import html
import json
import re
import socket
from pathlib import Path

import pytest

from pgs.actors.messages.account.settings import AddOrigin, RemoveOrigin
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from tests.http.embed.embedding import LIVE, ROUTES, TEST, embedding_service, policy
from tests.journeys.partners import account
from tests.journeys.service import Service


async def _document(service: Service, path: str) -> tuple[str, dict[str, list[str]]]:
    reply = await service.public.call("GET", path)
    assert reply.status == 200, reply
    assert reply.header("content-type") == "text/html; charset=utf-8"
    return reply.content.decode(), policy(reply.header("content-security-policy"))


async def test_only_the_origins_of_its_environment_may_frame_the_document(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        for path, origin in (("/embed/acme", LIVE), ("/embed/test/acme", TEST)):
            document, rules = await _document(service, path)
            assert rules["frame-ancestors"] == [origin]
            found = re.search(r'name="pgs-frame" content="([^"]*)"', document)
            assert found
            environment = "test" if "test" in path else "live"
            data = json.loads(html.unescape(found[1]))
            assert data.pop("theme")["environment"] == environment
            assert data == {
                "partnerId": "acme",
                "environment": environment,
                "origins": [origin],
            }


async def test_an_origin_counts_from_the_moment_it_is_saved_until_it_is_removed(
    tmp_path: Path,
) -> None:
    async with embedding_service(tmp_path) as service:
        await account(service.core, "acme", AddOrigin(PLATFORM, "live", "https://second.example"))
        assert (await _document(service, "/embed/acme"))[1]["frame-ancestors"] == [
            "https://second.example",
            LIVE,
        ]
        await account(service.core, "acme", RemoveOrigin(PLATFORM, "live", LIVE))
        assert (await _document(service, "/embed/acme"))[1]["frame-ancestors"] == [
            "https://second.example"
        ]


async def test_scripts_and_styles_in_the_document_carry_the_nonce_of_its_policy(
    tmp_path: Path,
) -> None:
    async with embedding_service(tmp_path) as service:
        seen = set()
        for _ in range(3):
            document, rules = await _document(service, "/embed/acme")
            (source,) = rules["script-src"]
            (nonce,) = re.findall(r"^'nonce-([A-Za-z0-9_=-]{22,})'$", source)
            seen.add(nonce)
            assert rules["style-src"] == [f"'nonce-{nonce}'"]
            tags = re.findall(r"<(?:script|link rel=\"stylesheet\"|style)[^>]*>[^<]*", document)
            assert len(tags) == 1
            assert all(f'nonce="{nonce}"' in tag and tag.rstrip().endswith(">") for tag in tags), (
                "a tag without the nonce, or with inline content"
            )
            assert "%PGS_" not in document
        assert len(seen) == 3


async def test_the_policy_lets_the_document_connect_to_this_service_only(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    async with embedding_service(
        tmp_path, listen=listen, base_url="https://games.example"
    ) as service:
        _, rules = await _document(service, "/embed/acme")
        assert rules.pop("script-src")
        assert rules.pop("style-src")
        assert rules == {
            "default-src": ["'none'"],
            "img-src": ["'self'", "https://games.example", "data:"],
            "connect-src": ["'self'", "wss://games.example"],
            "base-uri": ["'none'"],
            "form-action": ["'none'"],
            "frame-ancestors": [LIVE],
        }


@pytest.mark.parametrize(("environment", "route"), ROUTES)
async def test_the_document_is_stored_nowhere_and_sets_no_cookie(
    tmp_path: Path, environment: Environment, route: str
) -> None:
    async with embedding_service(tmp_path) as service:
        reply = await service.public.call(
            "GET", f"{route}acme", headers=[("X-Service-Api-Version", "7"), ("Cookie", "a=b")]
        )
        assert reply.status == 200
        assert reply.version == service.core.parts.versions.current
        assert reply.header("cache-control") == "no-store"
        assert reply.header("set-cookie") is None
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("referrer-policy") == "no-referrer"
        assert reply.header("x-frame-options") is None


async def test_an_unknown_query_does_no_harm(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        assert (
            await service.public.call("GET", "/embed/acme?sessionToken=x&theme=%3Cscript%3E")
        ).status == 200


async def test_files_that_the_document_loads_may_be_cached_for_ever(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        document, _ = await _document(service, "/embed/test/acme")
        paths = re.findall(r'(?:src|href)="(/[^"]+)"', document)
        assert sorted(path.rpartition(".")[2] for path in paths) == ["js"]
        for path in paths:
            plain = await service.public.call("GET", path)
            assert plain.status == 200
            assert plain.header("cache-control") == "public, max-age=31536000, immutable"
            assert plain.header("content-type") == "text/javascript; charset=utf-8"
            sizes = [len(plain.content)]
            for accepted, coding in (("gzip;q=0.8", "gzip"), ("br, gzip;q=0.8", "br")):
                packed = await service.public.call(
                    "GET", path, headers=[("Accept-Encoding", accepted)]
                )
                assert packed.header("content-encoding") == coding
                assert packed.header("vary") == "accept-encoding"
                sizes.append(len(packed.content))
            assert sizes == sorted(sizes, reverse=True), "Brotli is the smallest"
            assert sizes[1] < sizes[0] / 2
            refused = await service.public.call(
                "GET", path, headers=[("Accept-Encoding", "gzip;q=0")]
            )
            assert refused.content == plain.content


async def test_pages_of_any_origin_may_load_the_helper(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        reply = await service.public.call("GET", "/embed/pgs-embed.js")
        assert reply.status == 200
        assert b"PgsEmbed" in reply.content
        assert reply.header("content-type") == "text/javascript; charset=utf-8"
        assert reply.header("access-control-allow-origin") == "*"
        assert reply.header("cross-origin-resource-policy") == "cross-origin"
        assert reply.version == service.core.parts.versions.current


async def test_the_answer_to_head_has_the_headers_of_get_and_no_body(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        for path in ("/embed/acme", "/embed/test/acme", "/embed/pgs-embed.js", "/embed/nobody"):
            full = await service.public.call("GET", path)
            head = await service.public.call("HEAD", path)
            assert (head.status, head.content) == (full.status, b""), path
            changing = {"date", "x-request-id", "content-security-policy"}
            assert [(k, v) for k, v in head.headers if k not in changing] == [
                (k, v) for k, v in full.headers if k not in changing
            ]
            assert int(head.header("content-length") or 0) == len(full.content)
