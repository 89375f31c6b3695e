"""The demo partner's page and the backend behind it."""

import re
from pathlib import Path

import msgspec
import pytest
import trio

from pgs.demo.inbox import Received
from tests.demo.site import visit


async def test_the_page_may_run_only_its_own_scripts_and_the_services_helper(
    tmp_path: Path,
) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            status, headers, content = await site.call("/")
            page = content.decode()
            policy = dict(
                part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
            )
            assert status == 200
            assert policy["default-src"] == "'none'"
            assert policy["script-src"] == f"'self' {site.service.base_url}/embed/pgs-embed.js"
            assert policy["frame-src"] == site.service.base_url
            assert policy["connect-src"] == policy["style-src"] == "'self'"
            assert "unsafe" not in headers["content-security-policy"]
            assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page)
            loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
            assert sorted(loaded) == sorted(
                ["data:,", "/site.css", "/site.js", f"{site.service.base_url}/embed/pgs-embed.js"]
            )
            for name, kind in (("/site.css", "text/css"), ("/site.js", "text/javascript")):
                status, headers, content = await site.call(name)
                assert (status, headers["content-type"].partition(";")[0]) == (200, kind)
                assert b"http://" not in content
                assert b"https://" not in content
            assert 'value="tic-tac-toe"' in page
            assert "%" not in page


async def test_no_answer_to_the_browser_holds_a_key(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            site.news.nudge(Received(1_000, "POST /nudges HTTP/1.1", "t=1,v1=aa", b"{}", None))
            for path in ("/", "/site.js", "/site.css", "/play/match", "/nowhere", "/../demo.json"):
                await site.call(path)
            _, _, launched = await site.call("/play/match", {"gameId": "tic-tac-toe"})
            match_id = msgspec.json.decode(launched)["match"]["matchId"]
            for player in (0, 1):
                status, _, minted = await site.call(
                    "/play/session", {"gameId": "tic-tac-toe", "player": player}
                )
                assert status == 200
                assert msgspec.json.decode(minted).keys() == {"embedUrl", "sessionToken"}
            await site.call("/play/session", {"gameId": "tic-tac-toe", "player": 7})
            await site.rows_of(match_id, "started")
            told = b"\n".join(site.answers)
            assert b"arrivedAtMs" in told
            for secret in (
                site.demo.test_key,
                site.demo.live_key,
                site.inbox.secret,
                site.demo.admin_token,
                site.demo.totp_secret,
            ):
                assert secret.encode() not in told
            assert b"pgs_test_" not in told
            assert b"v1=aa" not in told


async def test_a_new_match_ends_the_match_before_it(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            matches, table = [], None
            for game_id in ("tic-tac-toe", "reversi"):
                status, _, content = await site.call("/play/match", {"gameId": game_id})
                table = msgspec.json.decode(content)
                assert (status, table["match"]["gameId"], len(table["players"])) == (
                    200,
                    game_id,
                    2,
                )
                matches.append(table["match"]["matchId"])
            _, _, content = await site.call("/play/match")
            assert msgspec.json.decode(content) == table
            rows = await site.rows_of(matches[0], "no_contest")
            assert rows.keys() == {"site-1", "site-2"}
            assert (await site.backend.match(matches[1])).received["status"] == "started"


async def test_the_page_shows_one_frame_when_a_bot_plays(tmp_path: Path) -> None:
    called: list[tuple[str, str]] = []

    async def opponent(game_id: str, match_id: str) -> None:
        called.append((game_id, match_id))

    with trio.fail_after(60):
        async with visit(tmp_path, opponent) as site:
            _, _, content = await site.call("/play/match", {"gameId": "connect-four"})
            table = msgspec.json.decode(content)
            assert len(table["players"]) == 1
            assert called == [("connect-four", table["match"]["matchId"])]
            status, _, _ = await site.call("/play/session", {"gameId": "connect-four", "player": 1})
            assert status == 404


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"gameId": 1}',
        b'{"gameId": "go"}',
        b'{"gameId": "tic-tac-toe", "player": "x"}',
    ],
)
async def test_requests_that_the_page_never_sends_are_refused(tmp_path: Path, body: bytes) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            for path in ("/play/match", "/play/session"):
                status, headers, _ = await site.call(path, body)
                assert (status, "content-security-policy" in headers) == (400, True)


async def test_requests_from_another_origin_or_host_are_refused(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            for strange in (
                {"Origin": "http://elsewhere.example"},
                {"Origin": "null"},
                {"Host": "elsewhere.example"},
            ):
                for path, body in (
                    ("/play/match", {"gameId": "tic-tac-toe"}),
                    ("/play/news", None),
                ):
                    status, _, _ = await site.call(path, body, **strange)
                    assert status == 403
            status, _, _ = await site.call(
                "/play/match",
                Host=site.url.removeprefix("http://").replace("127.0.0.1", "localhost"),
            )
            assert status == 200
            assert (await site.backend.results()).received["results"] == []


async def test_news_comes_in_order_and_only_once(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with visit(tmp_path) as site:
            for at in (1, 2):
                site.news.nudge(Received(at, "POST /", "s", b"", None))
            _, _, content = await site.call("/play/news?after=1")
            told = msgspec.json.decode(content)
            assert [entry["nudge"]["arrivedAtMs"] for entry in told["entries"]] == [2]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(site.call, "/play/news?after=2")
                await trio.testing.wait_all_tasks_blocked(0.05)
                site.news.nudge(Received(3, "POST /", "s", b"", "there is no signature"))
            assert (
                msgspec.json.decode(site.answers[-1])["entries"][0]["nudge"]["problem"]
                == "there is no signature"
            )
            for odd in ("999", "x", "-1", "%C2%B2", "9" * 50, ""):
                _, _, content = await site.call(f"/play/news?after={odd}")
                assert len(msgspec.json.decode(content)["entries"]) == 3
