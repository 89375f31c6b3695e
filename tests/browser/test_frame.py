"""The frame in a real browser, against a scripted server that does what a real one rarely does."""

import time
from email.utils import formatdate
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Tab
from tests.browser.scripted_server import CHESS_START, ScriptedServer, empty, snapshot
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tabs: list[Tab], service: SharedService, partner: Partner, site: str) -> ScriptedServer:
    """A scripted game server, with the frame of the first tab connected to it."""
    tab = tabs[0]
    scripted = ScriptedServer(tab.page)
    tab.embed(
        site,
        service.client.base_url,
        f"{service.client.base_url}/embed/test/{partner.partner_id}",
        "pgs1.any-token_~",
    )
    scripted.wait("join")
    return scripted


def test_the_frame_reconnects_by_itself_and_loses_no_move(
    server: ScriptedServer, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    begun = snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1", "b2"])
    server.send(begun)
    tab.cell("b2").click()
    assert server.wait("move") == {"type": "move", "matchId": "mat_1", "ply": 0, "move": "b2"}
    server.close(4503)
    tab.hears("Connection lost")
    assert server.wait("join", 2) == {"type": "join", "matchId": "mat_1"}
    server.send(begun)
    assert server.wait("move", 2)["move"] == "b2"
    tab.hears("Connected again")
    assert tab.messages("pgs.error") == [{"type": "pgs.error", "reason": "registry_unavailable"}]
    assert tab.errors == []


def test_a_restart_of_the_server_is_not_reported(server: ScriptedServer, tabs: list[Tab]) -> None:
    tab = tabs[0]
    server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.sees("Your turn")
    server.close(1001)
    server.wait("join", 2)
    assert server.session_calls == 2
    server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.sees("Your turn")
    assert tab.messages("pgs.error") == []


@pytest.mark.parametrize(
    ("code", "text"), [(4401, "has run out"), (4403, "was ended"), (4409, "another window")]
)
def test_a_final_close_code_is_shown_and_ends_all_attempts(
    server: ScriptedServer, tabs: list[Tab], code: int, text: str
) -> None:
    server.send({"type": "waiting"})
    server.close(code)
    tabs[0].sees(text)
    tabs[0].page.wait_for_timeout(1500)
    assert len(server.sockets) == 1


def test_the_frame_has_the_colours_and_the_logo_of_the_theme(
    server: ScriptedServer, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.frame.get_by_text("Night Games").wait_for()
    assert (
        tab.frame.locator("header img").evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == 1
    )
    body = tab.frame.locator("body")
    assert body.evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(16, 20, 24)"
    assert body.evaluate("body => getComputedStyle(body).color") == "rgb(240, 240, 240)"
    assert body.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert tab.errors == []


def test_a_press_on_any_cell_of_a_column_drops_a_disc(
    server: ScriptedServer, tabs: list[Tab]
) -> None:
    server.send(snapshot("connect-four", {"board": empty(6, 7)}, ["1", "4"]))
    tabs[0].cell("b3").click(force=True)
    tabs[0].hears("not a legal move")
    tabs[0].cell("d2").click()
    assert server.wait("move")["move"] == "4"


def test_a_side_without_a_legal_move_can_pass(server: ScriptedServer, tabs: list[Tab]) -> None:
    server.send(snapshot("reversi", {"board": empty(8, 8), "scores": [3, 5]}, ["pass"]))
    tabs[0].sees("You must pass")
    assert tabs[0].frame.locator(".count").all_inner_texts() == ["5", "3"]
    tabs[0].frame.get_by_role("button", name="Pass").click()
    assert server.wait("move")["move"] == "pass"


def test_the_player_chooses_the_piece_of_a_promotion(
    server: ScriptedServer, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    fen = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    server.send(
        snapshot(
            "chess",
            {"fen": fen},
            ["a1b1", "a7a8b", "a7a8n", "a7a8q", "a7a8r"],
            remainingMs=[300000, 290000],
        )
    )
    hint = tab.frame.locator(".say p")
    tab.cell("a7").click()
    assert tab.cell("a7").get_attribute("aria-label") == "a7, white pawn, picked up"
    assert hint.is_visible()
    tab.cell("a8").click()
    tab.frame.get_by_role("group", name="Promote to").wait_for()
    assert not hint.is_visible()
    tab.focuses('button:has-text("Queen")')
    tab.frame.get_by_role("button", name="Knight").click()
    assert server.wait("move")["move"] == "a7a8n"


def test_the_clocks_of_both_sides_are_shown(server: ScriptedServer, tabs: list[Tab]) -> None:
    tab = tabs[0]
    now = tab.page.evaluate("Date.now()")
    server.send(
        snapshot(
            "chess",
            {"fen": CHESS_START},
            ["e2e4"],
            remainingMs=[300000, 240000],
            deadlineAtMs=now + 200_000,
        )
    )
    clocks = tab.frame.locator(".clock")
    assert clocks.first.inner_text() == "4:00"
    assert clocks.last.inner_text() in ("3:20", "3:19", "3:18", "3:17")


_WATCH_CLOCKS = """() => {
  window.seenClocks = [];
  new MutationObserver(() => {
    const text = document.querySelector(".plate.own .clock")?.textContent;
    if (text !== undefined && text !== window.seenClocks.at(-1)) window.seenClocks.push(text);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def test_a_clock_of_thirty_seconds_never_shows_more(
    tabs: list[Tab], service: SharedService, partner: Partner, site: str
) -> None:
    tab = tabs[0]
    server = ScriptedServer(tab.page)
    # The header has whole seconds: the server's clock stands almost a second later.
    date_ms = 1_900_000_000_000
    server.session_headers = {"Date": formatdate(date_ms / 1000, usegmt=True)}
    base = service.client.base_url
    tab.embed(site, base, f"{base}/embed/test/{partner.partner_id}", "token")
    server.wait("join")
    tab.page.frames[1].evaluate(_WATCH_CLOCKS)
    server_ms = date_ms + 990 + time.time() * 1000 - server.session_answered_at_ms
    fields = {"deadlineAtMs": int(server_ms) + 30_000}
    server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"], **fields))
    tab.frame.locator(".plate.own .clock").wait_for()
    tab.page.wait_for_timeout(1_200)
    seen = tab.page.frames[1].evaluate("window.seenClocks")
    assert len(seen) > 1, seen
    assert all(one[:3] in ("0:3", "0:2") and one <= "0:30" for one in seen), seen


def test_the_name_of_the_opponent_is_shown_as_text(server: ScriptedServer, tabs: list[Tab]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    server.send(
        snapshot(
            "tic-tac-toe",
            {"board": empty(3, 3)},
            ["a1"],
            opponent={"playerId": "bob", "displayName": evil, "connected": True},
        )
    )
    tabs[0].frame.get_by_text(evil).wait_for()
    assert tabs[0].errors == []


def test_an_unknown_game_shows_a_message(server: ScriptedServer, tabs: list[Tab]) -> None:
    server.send(snapshot("tiddlywinks", {"cups": 1}, ["flip"]))
    tabs[0].sees("cannot be shown")


def test_nothing_is_animated_if_the_system_asks_for_reduced_motion(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    cases: tuple[tuple[Literal["reduce", "no-preference"], set[str]], ...] = (
        ("reduce", {"none"}),
        ("no-preference", {"draw"}),
    )
    for motion, names in cases:
        context = browser.new_context(reduced_motion=motion)
        tab = Tab(context.new_page())
        scripted = ScriptedServer(tab.page)
        tab.embed(
            site,
            service.client.base_url,
            f"{service.client.base_url}/embed/test/{partner.partner_id}",
            "token",
        )
        scripted.wait("join")
        scripted.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
        board = [[0, None, None], *empty(2, 3)]
        moved = {"type": "moved", "matchId": "mat_1", "seq": 2, "ply": 1, "by": 0, "move": "a1"}
        scripted.send(moved | {"state": {"board": board}, "turn": 1, "legalMoves": ["a2"]})
        tab.cell("a1").locator(".mark").wait_for()
        assert (
            set(
                tab.frame.locator(".cell .mark > *").evaluate_all(
                    "parts => parts.map(part => getComputedStyle(part).animationName)"
                )
            )
            == names
        )
        context.close()


def test_a_frame_without_a_host_page_says_so(
    tabs: list[Tab], service: SharedService, partner: Partner
) -> None:
    tabs[0].page.goto(f"{service.client.base_url}/embed/test/{partner.partner_id}")
    tabs[0].page.locator(".card p", has_text="inside a partner’s page").wait_for()
    assert tabs[0].errors == []
