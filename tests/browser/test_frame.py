"""The frame in a real browser, against a server that does what a real one seldom does."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Tab
from tests.browser.script import CHESS, GameServer, empty, snapshot
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

GAMES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("tic-tac-toe", {"board": empty(3, 3)}, ["a1", "b2", "c3"]),
    ("connect-four", {"board": empty(6, 7)}, ["1", "4", "7"]),
    ("reversi", {"board": empty(8, 8)}, ["d3", "c4"]),
    ("chess", {"fen": CHESS, "check": False}, ["e2e4", "e2e3", "g1f3"]),
]


@pytest.fixture
def server(tabs: list[Tab], service: SharedService, partner: Partner, site: str) -> GameServer:
    """A scripted game server, with the frame of the first tab connected to it."""
    tab = tabs[0]
    scripted = GameServer(tab.page)
    tab.embed(
        site,
        service.client.base_url,
        f"{service.client.base_url}/embed/test/{partner.partner_id}",
        "pgs1.any-token_~",
    )
    scripted.wait("join")
    return scripted


def test_a_lost_connection_comes_back_by_itself_and_loses_no_move(
    server: GameServer, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    begun = snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1", "b2"])
    server.say(begun)
    tab.cell("b2").click()
    assert server.wait("move") == {"type": "move", "matchId": "mat_1", "ply": 0, "move": "b2"}
    server.close(4503)
    tab.hears("Connection lost")
    assert server.wait("join", 2) == {"type": "join", "matchId": "mat_1"}
    server.say(begun)
    assert server.wait("move", 2)["move"] == "b2"
    tab.hears("Connected again")
    assert tab.told("pgs.error") == [{"type": "pgs.error", "reason": "registry_unavailable"}]
    assert tab.faults == []


def test_a_server_that_restarts_is_come_back_to_without_a_word(
    server: GameServer, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    server.say(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.sees("Your turn")
    server.close(1001)
    server.wait("join", 2)
    assert server.checks == 2
    server.say(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.sees("Your turn")
    assert tab.told("pgs.error") == []


@pytest.mark.parametrize(
    ("code", "text"), [(4401, "has expired"), (4403, "was ended"), (4409, "another window")]
)
def test_a_final_close_is_told_and_not_argued_with(
    server: GameServer, tabs: list[Tab], code: int, text: str
) -> None:
    server.say({"type": "waiting"})
    server.close(code)
    tabs[0].sees(text)
    tabs[0].page.wait_for_timeout(1500)
    assert len(server.sockets) == 1


def test_the_theme_dresses_the_frame(server: GameServer, tabs: list[Tab]) -> None:
    tab = tabs[0]
    server.say(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.frame.get_by_role("heading", name="Night Games").wait_for()
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
    assert (
        tab.frame.locator(".board").evaluate("board => getComputedStyle(board).borderRadius")
        == "16px"
    )
    assert tab.faults == []


@pytest.mark.parametrize(("game_id", "state", "moves"), GAMES)
@pytest.mark.parametrize("you", [0, 1])
def test_every_board_fits_the_smallest_screens(
    server: GameServer,
    tabs: list[Tab],
    game_id: str,
    state: dict[str, Any],
    moves: list[str],
    you: int,
) -> None:
    tab = tabs[0]
    tab.page.set_viewport_size({"width": 320, "height": 720})
    server.say(snapshot(game_id, state, moves, you=you, turn=you))
    board = tab.frame.locator(".board")
    board.wait_for()
    assert tab.frame.locator("html").evaluate(
        "html => html.scrollWidth <= 320 && html.scrollHeight <= 720"
    )
    sizes = tab.frame.locator(".cell").evaluate_all(
        "cells => cells.map(cell => cell.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert min(min(size) for size in sizes) >= 24, "WCAG 2.2, target size"
    assert tab.frame.locator(".cell[aria-disabled=false]").count() > 0
    assert tab.faults == []


def test_a_column_is_dropped_into_from_any_of_its_cells(
    server: GameServer, tabs: list[Tab]
) -> None:
    server.say(snapshot("connect-four", {"board": empty(6, 7)}, ["1", "4"]))
    tabs[0].cell("b3").click(force=True)
    tabs[0].cell("d6").click()
    assert server.wait("move")["move"] == "4"


def test_a_side_that_cannot_move_passes(server: GameServer, tabs: list[Tab]) -> None:
    server.say(snapshot("reversi", {"board": empty(8, 8), "scores": [3, 5]}, ["pass"]))
    assert tabs[0].frame.locator(".note").inner_text() == "Black 3 – White 5"
    tabs[0].frame.get_by_role("button", name="No legal move: pass").click()
    assert server.wait("move")["move"] == "pass"


def test_a_pawn_becomes_what_its_player_chooses(server: GameServer, tabs: list[Tab]) -> None:
    tab = tabs[0]
    fen = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    server.say(
        snapshot(
            "chess",
            {"fen": fen},
            ["a7a8q", "a7a8r", "a7a8b", "a7a8n", "a1b1"],
            remainingMs=[300000, 290000],
        )
    )
    tab.cell("a7").click()
    assert tab.cell("a7").get_attribute("aria-label") == "a7, white pawn, picked up"
    tab.cell("a8").click()
    tab.frame.get_by_role("group", name="Promote to").wait_for()
    tab.focuses('button:text-is("queen")')
    tab.frame.get_by_role("button", name="knight").click()
    assert server.wait("move")["move"] == "a7a8n"


def test_the_clocks_of_both_sides_are_shown(server: GameServer, tabs: list[Tab]) -> None:
    tab = tabs[0]
    now = tab.page.evaluate("Date.now()")
    server.say(
        snapshot(
            "chess",
            {"fen": CHESS},
            ["e2e4"],
            remainingMs=[300000, 240000],
            deadlineAtMs=now + 200_000,
        )
    )
    clocks = tab.frame.locator(".clock")
    assert clocks.first.inner_text() == "4:00"
    assert clocks.last.inner_text() in ("3:20", "3:19", "3:18", "3:17")


def test_what_the_frame_shows_of_others_is_text(server: GameServer, tabs: list[Tab]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    server.say(
        snapshot(
            "tic-tac-toe",
            {"board": empty(3, 3)},
            ["a1"],
            opponent={"playerId": "bob", "displayName": evil, "connected": True},
        )
    )
    tabs[0].frame.get_by_text(evil).wait_for()
    assert tabs[0].faults == []


def test_a_game_that_is_not_known_is_not_a_blank_page(server: GameServer, tabs: list[Tab]) -> None:
    server.say(snapshot("tiddlywinks", {"cups": 1}, ["flip"]))
    tabs[0].frame.get_by_text("cannot be shown").wait_for()


def test_nothing_moves_for_those_who_asked_for_that(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    for motion, names in (("reduce", {"none"}), ("no-preference", {"appear"})):
        context = browser.new_context(reduced_motion=motion)  # type: ignore[arg-type]  # the cases are plain text
        tab = Tab(context.new_page())
        scripted = GameServer(tab.page)
        tab.embed(
            site,
            service.client.base_url,
            f"{service.client.base_url}/embed/test/{partner.partner_id}",
            "token",
        )
        scripted.wait("join")
        board = [[0, 1, None], *empty(2, 3)]
        scripted.say(snapshot("tic-tac-toe", {"board": board}, ["a2"]))
        tab.frame.locator(".mark").first.wait_for()
        assert (
            set(
                tab.frame.locator(".mark").evaluate_all(
                    "marks => marks.map(mark => getComputedStyle(mark).animationName)"
                )
            )
            == names
        )
        context.close()


def test_a_page_that_is_opened_by_itself_says_what_it_is(
    tabs: list[Tab], service: SharedService, partner: Partner
) -> None:
    tabs[0].page.goto(f"{service.client.base_url}/embed/test/{partner.partner_id}")
    tabs[0].page.get_by_text("inside a partner’s page").wait_for()
    assert tabs[0].faults == []
