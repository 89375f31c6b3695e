"""The sentence and the buttons below the board, and the pieces of a castling."""

from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.positions import SIZES, STATES
from tests.browser.scripted_server import snapshot
from tests.browser.shown import Shown
from tests.browser.test_cards import LANGUAGES

pytestmark = pytest.mark.browser

NAMED: Final = {state.name: state for state in STATES}

_LINES: Final = """async ([width, height]) => {
  const frame = () => new Promise(requestAnimationFrame);
  while (innerWidth !== width || innerHeight !== height) await frame();
  await frame();
  const title = document.querySelector(".dock .headline");
  const cut = [title, ...title.parentElement.querySelectorAll("p")].filter((part) =>
    part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1);
  const clamped = getComputedStyle(title).webkitLineClamp !== "none";
  const lines = title.clientHeight / parseFloat(getComputedStyle(title).lineHeight);
  return { cut: cut.map((part) => part.textContent), clamped, lines: Math.round(lines) };
}"""

_TOP: Final = """board => {
  const { top, height } = board.getBoundingClientRect();
  return [Math.round(top), Math.round(height)];
}"""


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("name", ["your turn", "their turn", "their low", "away"])
def test_a_long_name_is_shortened_and_the_sentence_around_it_is_not(
    shown: Shown, language: str, name: str
) -> None:
    shown.says(f"{{ type: 'pgs.host', again: true, lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    shown.show("tic-tac-toe", NAMED[name], "")
    faults = []
    for width, height in SIZES:
        shown.tab.page.set_viewport_size({"width": width, "height": height})
        seen = shown.document.evaluate(_LINES, [width, height])
        if seen["cut"] or seen["clamped"] or seen["lines"] > 2:
            faults.append(f"{width}x{height}: {seen}")
    assert faults == []


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_the_sentence_about_a_lost_connection_is_shown_whole_in_the_smallest_frame(
    shown: Shown, language: str
) -> None:
    shown.tab.page.set_viewport_size({"width": 320, "height": 480})
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    shown.show("tic-tac-toe", NAMED["your turn"], "")
    shown.tab.page.route("**/game/session", lambda route: route.abort())
    shown.server.close(4503)
    shown.tab.frame.locator(".say.warn").wait_for()
    seen = shown.document.evaluate(_LINES, [320, 480])
    assert seen == {"cut": [], "clamped": False, "lines": 1}


@pytest.mark.parametrize("shown", ["reversi"], indirect=True)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_the_moves_can_be_stepped_through_while_the_player_must_pass(
    shown: Shown, language: str
) -> None:
    shown.tab.page.set_viewport_size({"width": 320, "height": 480})
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    shown.show("reversi", NAMED["your turn"], "")
    board = shown.tab.frame.locator(".board")
    before = board.evaluate(_TOP)
    shown.leave(NAMED["your turn"])
    shown.show("reversi", NAMED["pass"], "")
    shown.tab.frame.locator(".dock.stack").wait_for()
    expect(shown.tab.frame.locator(".dock .steps .tool")).to_have_count(2)
    for tool in shown.tab.frame.locator(".dock .steps .tool").all():
        expect(tool).to_be_visible()
    assert board.evaluate(_TOP) == before
    assert shown.document.evaluate(_LINES, [320, 480])["cut"] == []


_HINT_FAULTS: Final = """() => {
  const dock = document.querySelector(".dock").getBoundingClientRect();
  const hint = document.querySelector(".dock p");
  if (hint === null || hint.clientHeight === 0) return ["no hint"];
  const boxes = [...document.querySelectorAll(".dock button, .dock h2")]
    .map((part) => part.getBoundingClientRect());
  const range = document.createRange();
  range.selectNodeContents(hint);
  const text = range.getBoundingClientRect();
  const inside = text.left >= dock.left && text.right <= dock.right + 0.5 &&
    text.top >= dock.top - 0.5 && text.bottom <= dock.bottom + 0.5;
  const covered = boxes.some((box) => text.left < box.right - 0.5 && box.left < text.right - 0.5 &&
    text.top < box.bottom - 0.5 && box.top < text.bottom - 0.5);
  return [!inside && "outside", covered && "covered"].filter(Boolean);
}"""


@pytest.mark.parametrize("shown", ["reversi"], indirect=True)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_every_hint_can_be_read_whole_in_the_smallest_frame(shown: Shown, language: str) -> None:
    shown.tab.page.set_viewport_size({"width": 320, "height": 480})
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    faults = []
    for name in ("your turn", "their turn", "away", "earlier position", "pass", "low"):
        shown.show("reversi", NAMED[name], "")
        shown.tab.frame.locator(".dock p").wait_for()
        faults += [f"{name}: {one}" for one in shown.document.evaluate(_HINT_FAULTS)]
        shown.leave(NAMED[name])
    assert faults == []


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
def test_the_rook_of_a_castling_slides_as_the_king_does(shown: Shown) -> None:
    state = {"fen": "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "check": False}
    shown.server.send(snapshot("chess", state, ["e1g1"]))
    shown.tab.sees("Your turn")
    after = {"fen": "4k3/8/8/8/8/8/8/5RK1 b - - 1 1", "check": False, "last": "e1g1"}
    moved = {"type": "moved", "matchId": "mat_1", "seq": 2, "ply": 1, "by": 0, "move": "e1g1"}
    shown.server.send({**moved, "state": after, "turn": 1, "legalMoves": []})
    shown.tab.sees("is thinking")
    expect(shown.tab.frame.locator(".slid")).to_have_count(2)
    way = """({ style }) =>
      style.getPropertyValue("--fx") + "," + style.getPropertyValue("--fy")"""
    assert shown.tab.frame.locator('[data-cell="g1"] .slid').evaluate(way) == "-2,0"
    assert shown.tab.frame.locator('[data-cell="f1"] .slid').evaluate(way) == "2,0"
