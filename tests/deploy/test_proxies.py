"""The service behind the proxies of `deploy/`, over TLS."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpcore
import msgspec
import pytest
import trio

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from pgs.domain.origins import MAX_ORIGINS
from tests.deploy.proxies import MAKERS, Proxy, proxied
from tests.journeys.admin_client import BOSS, AdminClient, open_admin, person
from tests.journeys.live_stream import Stream
from tests.journeys.partners import account, seat_body
from tests.journeys.play import mint, socket_of
from tests.journeys.process import free_port
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("kind", sorted(MAKERS))]

_TIMEOUTS: Final = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE_S)}
_HOLD_S: Final = 3


@asynccontextmanager
async def behind(kind: str, folder: Path) -> AsyncIterator[tuple[AdminClient, Proxy]]:
    """Run a service behind a proxy, with the account `acme`."""
    port, own = free_port(), free_port()
    base_url = f"https://localhost:{port}"
    async with open_admin(folder / "data", listen=f"127.0.0.1:{own}", base_url=base_url) as admin:
        internal = admin.service.internal.base_url.removeprefix("http://")
        async with proxied(kind, folder / kind, port, f"127.0.0.1:{own}", internal) as proxy:
            yield admin, proxy


async def _call(
    pool: httpcore.AsyncConnectionPool,
    proxy: Proxy,
    path: str,
    key: str | None = None,
    body: object = None,
) -> httpcore.Response:
    return await pool.request(
        "GET" if body is None else "POST",
        proxy.base_url + path,
        headers=[] if key is None else [("Authorization", f"Bearer {key}")],
        content=None if body is None else msgspec.json.encode(body),
        extensions=_TIMEOUTS,
    )


async def test_calls_and_documents_pass_over_tls_and_plain_http_is_redirected_to_it(
    kind: str, tmp_path: Path
) -> None:
    async with behind(kind, tmp_path) as (admin, proxy), proxy.pool() as pool:
        partner = await admin.service.partner("other")
        me = await _call(pool, proxy, "/partner/me", partner.test)
        assert me.status == 200
        assert (await _call(pool, proxy, "/docs/errors.json")).status == 200
        missing = await _call(pool, proxy, "/partner/nothing")
        assert (missing.status, b"error" in missing.content) == (404, True)
        head = await pool.request("HEAD", f"{proxy.base_url}/docs/errors.json")
        assert (head.status, head.content) == (200, b"")
        plain = await pool.request("GET", f"http://localhost:{proxy.plain_port}/docs/errors.json")
        assert plain.status == 308
        # The internal listener is not behind the proxy, nor is what nodes say to each other.
        for path in ("/internal/metrics", "/nodes/commands"):
            inside = await _call(pool, proxy, path)
            assert inside.status == 404
            assert msgspec.json.decode(inside.content) == {
                "error": "There is nothing at this path."
            }
            assert "x-request-id" not in {  # the proxy itself has answered
                name.decode().lower() for name, _ in inside.headers
            }


async def test_a_held_call_is_answered_when_there_is_news_and_a_socket_stays_open(
    kind: str, tmp_path: Path
) -> None:
    async with behind(kind, tmp_path) as (admin, proxy), proxy.pool() as pool:
        service = admin.service
        partner = await service.partner("other")
        token = await mint(service.public, partner.test, "ann")
        async with socket_of(proxy.base_url, token, tls=proxy.tls) as bot:
            feed = msgspec.json.decode(
                (await _call(pool, proxy, "/partner/results", partner.test)).content
            )
            path = f"/partner/results?cursor={feed['nextCursor']}&waitSeconds=25"
            answers = []

            async def wait() -> None:
                answers.append(await _call(pool, proxy, path, partner.test))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await trio.sleep(_HOLD_S)  # the call is held, and the socket silent
                assert answers == []
                for player in ("ann", "bob"):
                    body = seat_body(player, f"{player}-1")
                    seat = await _call(pool, proxy, "/partner/matches", partner.test, body)
                    assert seat.status == 200
            assert answers[0].status == 200
            assert len(msgspec.json.decode(answers[0].content)["results"]) == 2
            await bot.send("ping", id=7)
            assert (await bot.hear_until("pong"))["id"] == 7


async def test_each_event_of_a_stream_passes_at_once(kind: str, tmp_path: Path) -> None:
    async with behind(kind, tmp_path) as (admin, proxy):
        token = admin.issuer.mint_token(person(BOSS), lifetime_s=3600)
        async with await trio.open_ssl_over_tcp_stream(
            "localhost", proxy.port, ssl_context=proxy.tls
        ) as connection:
            stream = Stream(connection)
            head = await stream.open("/partner/admin/live?environment=test", token)
            assert head.status_code == 200
            # The stream goes on for 50 s: what is held back until its end comes too late.
            first = await stream.next()
            assert first is not None
            assert first[0] == "budget"


async def test_a_frame_with_the_most_and_longest_origins_passes(kind: str, tmp_path: Path) -> None:
    async with behind(kind, tmp_path) as (admin, proxy), proxy.pool() as pool:
        core = admin.service.core
        await admin.service.partner("wide")
        name = ".".join(["a" * 62] * 3 + ["b" * 50])
        origins = [f"https://x{number:03}.{name}.example:65000" for number in range(MAX_ORIGINS)]
        for origin in origins:
            await account(core, "wide", AddOrigin(PLATFORM, "live", origin))
        answer = await _call(pool, proxy, "/embed/wide")
        assert answer.status == 200
        headers = {key.lower(): value.decode() for key, value in answer.headers}
        assert headers[b"content-security-policy"].endswith(" ".join(origins))


async def test_one_address_cannot_ask_for_frames_without_end_and_calls_go_on(
    kind: str, tmp_path: Path
) -> None:
    async with behind(kind, tmp_path) as (admin, proxy), proxy.pool() as pool:
        partner = await admin.service.partner("other")
        refused = trio.Event()

        async def ask() -> None:
            while not refused.is_set():
                answer = await _call(pool, proxy, "/embed/other")
                assert answer.status in (409, 429)  # the partner has no origin
                if answer.status == 429:
                    refused.set()

        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(ask)
        assert (await _call(pool, proxy, "/partner/me", partner.test)).status == 200
