"""Every game in the frame: its list of moves, steps back through them, and dragged pieces."""

import random
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from pgs.games.installed import load_games
from tests.browser.chromium import WAIT_MAX_MS, Tab
from tests.browser.scripted_server import CHESS_START, snapshot
from tests.browser.shown import Shown, showing
from tests.browser.test_play import begin
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

GAMES = load_games()
PLIES = 40
WIDE: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 320, "height": 480}

_MARKS = """() => Object.fromEntries(
  [...document.querySelectorAll("[data-cell]")].flatMap((cell) => {
  const mark = cell.querySelector(".mark");
  return mark ? [[cell.dataset.cell, mark.getAttribute("class").split(" ")
    .find((name) => /^[a-z]+[01]$/.test(name))]] : [];
  }))"""


def _marks_of(game_id: str, view: dict[str, Any]) -> dict[str, str]:
    """Return the mark on each cell of a position, by the classes of the drawings."""
    if "fen" in view:
        ranks = view["fen"].split(" ")[0].split("/")
        rows = [
            "".join("." * int(one) if one.isdigit() else one for one in rank)
            for rank in reversed(ranks)
        ]
        return {
            f"{'abcdefgh'[column]}{row + 1}": f"{letter.lower()}{0 if letter.isupper() else 1}"
            for row, letters in enumerate(rows)
            for column, letter in enumerate(letters)
            if letter != "."
        }
    signs = ("x0", "o1") if game_id == "tic-tac-toe" else ("disc0", "disc1")
    return {
        f"{chr(97 + column)}{row + 1}": signs[owner]
        for row, owners in enumerate(view["board"])
        for column, owner in enumerate(owners)
        if owner is not None
    }


def _play(game_id: str) -> tuple[list[str], list[dict[str, Any]], dict[str, Any]]:
    """Return random moves, the marks before each and after the last, and the last snapshot."""
    rules, choose = GAMES[game_id], random.Random(11)
    state, moves = rules.initial(), list[str]()
    marks = [_marks_of(game_id, rules.view(state))]
    while (legal := rules.legal_moves(state)) and len(moves) < PLIES:
        moves.append(choose.choice(legal))
        state = rules.apply(state, moves[-1])
        marks.append(_marks_of(game_id, rules.view(state)))
    fields = {"moves": moves, "ply": len(moves), "turn": len(moves) % 2}
    return moves, marks, snapshot(game_id, rules.view(state), list(legal), **fields)


@pytest.mark.parametrize(
    ("shown", "game_id"), [(one, one) for one in sorted(GAMES)], indirect=["shown"]
)
def test_a_player_steps_back_to_the_first_position_and_on_again(shown: Shown, game_id: str) -> None:
    moves, marks, last = _play(game_id)
    page, document = shown.tab.page, shown.document
    page.set_viewport_size(WIDE)
    shown.server.send(last)
    expect(shown.tab.frame.locator(".moves [data-ply]")).to_have_count(
        len(moves), timeout=WAIT_MAX_MS
    )
    sent = len(shown.server.received)
    shown.tab.frame.locator(".moves").focus()
    for ply in range(len(moves) - 1, -1, -1):
        page.keyboard.press("ArrowLeft")
        shown.tab.sees(f"Move {ply} of {len(moves)}")
        assert document.evaluate(_MARKS) == marks[ply], f"after {ply} moves"
    shown.tab.frame.get_by_role("button", name="One move on").click()
    shown.tab.sees(f"Move 1 of {len(moves)}")
    shown.tab.frame.locator('[data-ply="2"]').click()
    shown.tab.sees(f"Move 3 of {len(moves)}")
    assert document.evaluate(_MARKS) == marks[3]
    shown.tab.frame.get_by_role("button", name="To the newest move").click()
    expect(shown.tab.frame.locator(".past")).to_have_count(0, timeout=WAIT_MAX_MS)
    assert document.evaluate(_MARKS) == marks[-1]
    assert len(shown.server.received) == sent, "stepping sends nothing"


def test_a_finger_steps_on_a_phone_and_a_tap_on_the_board_leads_back(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    base = service.client.base_url
    with showing(browser, base, partner.partner_id, site, "reversi", has_touch=True) as shown:
        shown.tab.page.set_viewport_size(PHONE)
        shown.server.send(_play("reversi")[2])
        back = shown.tab.frame.get_by_role("button", name="One move back")
        back.tap()
        back.tap()
        shown.tab.sees(f"Move {PLIES - 2} of {PLIES}")
        shown.tab.hears(f"Move {PLIES - 2} of {PLIES}")
        assert shown.tab.frame.get_by_role("button", name="Resign").count() == 0
        shown.tab.cell("a1").tap(force=True)
        expect(shown.tab.frame.locator(".past")).to_have_count(0, timeout=WAIT_MAX_MS)
        assert [one["type"] for one in shown.server.received] == ["join"]


def test_the_list_of_moves_is_there_after_a_reload(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = begin(service, partner, site, tabs)
    alice.page.set_viewport_size(WIDE)
    for mover, cell in ((alice, "a1"), (bob, "b2"), (alice, "c3")):
        mover.cell(cell).click()
        mover.cell(cell).locator(".mark").wait_for()
    listed = alice.frame.locator(".moves [data-ply]")
    expect(listed).to_have_text(["a1", "b2", "c3"], timeout=WAIT_MAX_MS)
    alice.reload()
    expect(listed).to_have_text(["a1", "b2", "c3"], timeout=WAIT_MAX_MS)


def _centre(shown: Shown, name: str) -> tuple[float, float]:
    box = shown.tab.cell(name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("way", ["mouse", "touch"])
def test_a_chess_piece_is_dragged_to_its_square(
    browser: Browser, service: SharedService, partner: Partner, site: str, way: str
) -> None:
    base, touch = service.client.base_url, way == "touch"
    with showing(browser, base, partner.partner_id, site, "chess", has_touch=touch) as shown:
        page = shown.tab.page
        shown.server.send(snapshot("chess", {"fen": CHESS_START}, ["e2e4", "e2e3", "g1f3"]))
        shown.tab.sees("Your turn")
        session = page.context.new_cdp_session(page)

        def drag(origin: str, target: str) -> None:
            from_x, from_y = _centre(shown, origin)
            to_x, to_y = _centre(shown, target)
            points = [(from_x, from_y), ((from_x + to_x) / 2, (from_y + to_y) / 2), (to_x, to_y)]
            if touch:
                kinds = ["touchStart", "touchMove", "touchMove"]
                for kind, (x, y) in zip(kinds, points, strict=True):
                    at = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
                    session.send("Input.dispatchTouchEvent", at)
                session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
                return
            page.mouse.move(*points[0])
            page.mouse.down()
            for x, y in points[1:]:
                page.mouse.move(x, y)
            page.mouse.up()

        drag("e2", "e5")
        expect(shown.tab.cell("e2").locator(".drag")).to_have_count(0, timeout=WAIT_MAX_MS)
        drag("e2", "e4")
        assert shown.server.wait("move")["move"] == "e2e4"
        # It is there before the server has answered.
        expect(shown.tab.cell("e4").locator(".mark")).to_have_count(1, timeout=WAIT_MAX_MS)
        assert shown.tab.cell("e2").locator(".mark").count() == 0
        after = CHESS_START.replace("PPPPPPPP", "PPPP1PPP").replace("8/8/8/8", "8/8/4P3/8")
        moved = {"type": "moved", "matchId": "mat_1", "seq": 2, "ply": 1, "by": 0, "turn": 1}
        shown.server.send(moved | {"move": "e2e4", "state": {"fen": after}, "legalMoves": ["e7e5"]})
        shown.tab.cell("e4").locator(".mark").wait_for()
        assert shown.tab.cell("e2").locator(".mark").count() == 0
        assert len([one for one in shown.server.received if one["type"] == "move"]) == 1
        assert shown.tab.errors == []
