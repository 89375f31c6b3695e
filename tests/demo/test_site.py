"""The demo partner's page and the backend behind it."""

import re
import shlex
from pathlib import Path

import msgspec
import pytest
import trio

from pgs.clock import SystemClock
from pgs.demo.backend import Exchange
from pgs.demo.inbox import Received
from pgs.demo.news import BODY_MAX, News
from tests.demo.site import visit
from tests.patience import PATIENCE_S


async def test_the_page_may_run_only_its_own_scripts_and_the_services_helper(
    tmp_path: Path,
) -> None:
    with trio.fail_after(PATIENCE_S):
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
                content = content.replace(b"http://www.w3.org", b"")  # names of namespaces
                assert b"http://" not in content
                assert b"https://" not in content
            assert "%" not in page
            status, _, content = await site.call("/play/match")
            told = msgspec.json.decode(content)
            assert {"gameId": "tic-tac-toe", "name": "Tic-tac-toe"} in told["games"]
            assert told["match"] is None


async def test_no_answer_to_the_browser_holds_a_key(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            site.news.nudge(Received(1_000, "POST /nudges HTTP/1.1", "t=1,v1=aa", b"{}", None))
            for path in ("/", "/site.js", "/site.css", "/play/match", "/nowhere", "/../demo.json"):
                await site.call(path)
            _, _, launched = await site.call("/play/match", {"gameId": "tic-tac-toe"})
            match_id = msgspec.json.decode(launched)["match"]["matchId"]
            tokens = []
            for player in (0, 1):
                status, _, minted = await site.call(
                    "/play/session", {"gameId": "tic-tac-toe", "player": player}
                )
                assert status == 200
                session = msgspec.json.decode(minted)
                assert session.keys() == {"embedUrl", "sessionToken"}
                tokens.append(session["sessionToken"])
            await site.call("/play/session", {"gameId": "tic-tac-toe", "player": 7})
            await site.rows_of(match_id, "started")
            _, _, news = await site.call("/play/news?after=0")
            assert b'"/partner/sessions"' in news
            assert all(token.encode() not in news for token in tokens)
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


async def test_a_running_match_is_ended_only_if_the_page_names_it(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            _, _, content = await site.call("/play/match", {"gameId": "reversi"})
            running = msgspec.json.decode(content)
            match_id = running["match"]["matchId"]
            for void in ({}, {"void": None}, {"void": "mat_another"}):
                status, _, content = await site.call(
                    "/play/match", {"gameId": "tic-tac-toe", **void}
                )
                assert (status, msgspec.json.decode(content)) == (
                    409,
                    {**running, "running": True},
                )
            assert (await site.backend.match(match_id)).received["status"] == "started"
            await site.backend.decide(match_id, "site-1")
            status, _, content = await site.call("/play/match", {"gameId": "tic-tac-toe"})
            assert status == 200  # a match that has ended needs no confirmation
            assert msgspec.json.decode(content)["match"]["gameId"] == "tic-tac-toe"


async def test_a_new_match_ends_the_match_before_it(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            matches: list[str | None] = [None]
            table = None
            for game_id in ("tic-tac-toe", "reversi"):
                wanted = {"gameId": game_id, "void": matches[-1]}
                status, _, content = await site.call("/play/match", wanted)
                table = msgspec.json.decode(content)
                assert (status, table["match"]["gameId"], len(table["players"])) == (
                    200,
                    game_id,
                    2,
                )
                matches.append(table["match"]["matchId"])
            _, _, content = await site.call("/play/match")
            assert msgspec.json.decode(content) == table
            _, first, second = matches
            assert first is not None
            assert second is not None
            rows = await site.rows_of(first, "no_contest")
            assert rows.keys() == {"site-1", "site-2"}
            assert (await site.backend.match(second)).received["status"] == "started"


async def test_the_page_shows_one_frame_when_a_bot_plays(tmp_path: Path) -> None:
    called: list[tuple[str, str]] = []

    async def opponent(game_id: str, match_id: str) -> None:
        called.append((game_id, match_id))

    with trio.fail_after(PATIENCE_S):
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
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            for path in ("/play/match", "/play/session"):
                status, headers, _ = await site.call(path, body)
                assert (status, "content-security-policy" in headers) == (400, True)


async def test_requests_from_another_origin_or_host_are_refused(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
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


async def test_every_call_is_shown_as_curl_without_the_key(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            await site.backend.results()  # finds nothing, so it is not shown
            await site.backend.tiers("tic-tac-toe")
            await site.backend.seat("tic-tac-toe", "p-1", "test-silver", 1, "it's-1")
            _, _, content = await site.call("/play/news?after=0")
            calls = [entry["call"] for entry in msgspec.json.decode(content)["entries"]]
            assert [(call["method"], call["path"], call["status"]) for call in calls] == [
                ("GET", "/partner/tiers?gameId=tic-tac-toe", 200),
                ("POST", "/partner/matches", 400),
            ]
            tiers, refused = calls
            url = site.service.base_url
            assert tiers["curl"] == (
                'curl -s -H "Authorization: Bearer $KEY" '
                f"'{url}/partner/tiers?gameId=tic-tac-toe'"
            )
            assert tiers["sent"] is None
            assert '"test-silver"' in tiers["received"]
            assert refused["requestId"].startswith("req_")
            assert refused["tookMs"] >= 0
            # A shell reads the line's words as they were.
            words = shlex.split(refused["curl"])
            assert msgspec.json.decode(words[words.index("-d") + 1]) == refused["sent"]
            assert words[-1] == f"{url}/partner/matches"


async def test_a_long_answer_is_shown_in_part() -> None:
    news = News(SystemClock())
    rows = [{"matchId": "m" * 100}] * 100
    news.call("http://here", Exchange("GET", "/partner/results", None, 200, {}, {"results": rows}))
    ((entry,), last) = await news.after(0, 0)
    assert last == 1
    assert len(entry["call"]["received"]) == BODY_MAX + 1


async def test_a_file_that_was_not_built_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trio.fail_after(PATIENCE_S):
        async with visit(tmp_path) as site:
            monkeypatch.setattr("pgs.demo.site.files", lambda _: tmp_path)
            status, _, _ = await site.call("/site.js")
            assert status == 404


async def test_news_comes_in_order_and_only_once(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
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
