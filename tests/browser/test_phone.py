"""The strip of moves and the clocks, in frames of every size."""

from itertools import pairwise

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.chromium import WAIT_MAX_MS
from tests.browser.positions import LOW_MS, SIZES, STATES
from tests.browser.scripted_server import empty, snapshot
from tests.browser.shown import Shown
from tests.browser.test_cards import LANGUAGES

pytestmark = pytest.mark.browser

NAMED = {state.name: state for state in STATES}
OPENING = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "b1c3", "g8f6", "d2d3", "d7d6"]
AFTER = "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 6"

_INSIDE = """(now) => {
  const [one, list] = [now, now.closest(".moves")].map((part) => part.getBoundingClientRect());
  return one.left >= list.left && one.right <= list.right &&
    one.top >= list.top && one.bottom <= list.bottom;
}"""


_ROOM = """away => [away, away.parentElement, away.closest(".plate")].map((one) =>
  `${one.className}: ${one.scrollWidth} of ${one.clientWidth}`)"""


def _opening(shown: Shown, **fields: object) -> None:
    state = {"fen": AFTER, "check": False}
    shown.server.send(snapshot("chess", state, ["e1g1"], **{"ply": 10, "moves": OPENING, **fields}))
    shown.tab.sees("Your turn")


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_moves_are_listed_and_the_newest_one_is_in_sight(
    shown: Shown, width: int, height: int
) -> None:
    shown.tab.page.set_viewport_size({"width": width, "height": height})
    _opening(shown)
    moves = shown.tab.frame.locator(".moves")
    expect(moves).to_be_visible()
    now = moves.locator(".now")
    expect(now).to_have_text("d6")
    assert now.evaluate(_INSIDE)
    shown.tab.frame.get_by_role("button", name="One move back").click()
    expect(now).to_have_text("d3")
    assert now.evaluate(_INSIDE)
    moves.locator("[data-ply]", has_text="Bc5").click()
    expect(now).to_have_text("Bc5")
    assert now.evaluate(_INSIDE)


@pytest.mark.parametrize("shown", ["connect-four"], indirect=True)
def test_a_long_move_is_whole_in_the_strip_of_the_smallest_frame(shown: Shown) -> None:
    shown.tab.page.set_viewport_size({"width": 320, "height": 480})
    shown.says("{ type: 'pgs.host', lang: 'fr' }")
    state, moves = {"board": empty(6, 7)}, list("4344355657")
    fields = {"ply": 10, "moves": moves, "stakeUsdCents": 500, "prizeUsdCents": 900}
    shown.server.send(snapshot("connect-four", state, ["1"], **fields))
    now = shown.tab.frame.locator(".now")
    expect(now).to_have_text("colonne 7")
    assert now.evaluate(_INSIDE)
    shown.tab.frame.locator(".steps .tool").first.click()
    expect(now).to_have_text("colonne 5")
    assert now.evaluate(_INSIDE)


def test_a_tall_phone_leaves_no_gap_between_what_it_shows(shown: Shown) -> None:
    shown.tab.page.set_viewport_size({"width": 390, "height": 844})
    shown.show("tic-tac-toe", NAMED["earlier position"])
    boxes = shown.document.evaluate(
        """() => [".bar", ".money", ".opp", ".board", ".own", ".moves", ".say", ".acts"].map(
          (part) => document.querySelector(part).getBoundingClientRect().toJSON())"""
    )
    gaps = [round(below["top"] - above["bottom"]) for above, below in pairwise(boxes)]
    assert min(gaps) >= 0
    assert max(gaps) <= 80, gaps
    assert boxes[-1]["bottom"] > 800


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
def test_the_opponents_low_clock_looks_like_the_players_own(shown: Shown) -> None:
    colours = {}
    for name, plate in (("low", ".own"), ("their low", ".opp")):
        shown.show("chess", NAMED[name])
        clock = shown.tab.frame.locator(f"{plate} .clock.low")
        clock.wait_for()
        assert clock.locator("svg").count() == 1, "colour is not all that tells it"
        colours[name] = clock.evaluate("clock => getComputedStyle(clock).backgroundColor")
        assert shown.tab.frame.locator(".clock.low").count() == 1
        shown.leave(NAMED[name])
    assert colours["low"] == colours["their low"]


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("size", [(390, 844), (680, 560), (1280, 900)])
def test_the_name_of_a_side_is_not_cut_off_when_time_is_low(
    shown: Shown, language: str, size: tuple[int, int]
) -> None:
    shown.tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    now = shown.tab.page.evaluate("Date.now()")
    # Both sides have captured, and the player is to move.
    state = {"fen": "r1b1k2r/pp3ppp/2n5/2b1p3/4P3/2N2N2/PPP2PPP/R1BQK2R w KQkq - 0 9"}
    clocks = {"deadlineAtMs": now + LOW_MS, "remainingMs": [LOW_MS, 60_000]}
    shown.server.send(snapshot("chess", state, ["d1d8"], **clocks))
    shown.tab.frame.locator(".own .clock.low").wait_for()
    side = shown.tab.frame.locator(".own .sub > span").first
    assert side.evaluate("side => side.scrollWidth <= side.clientWidth + 1"), side.inner_text()


def test_a_page_that_does_not_answer_may_be_asked_again(shown: Shown) -> None:
    shown.tab.page.clock.install()
    shown.show("tic-tac-toe", NAMED["won"])
    shown.tab.frame.get_by_role("button", name="Play again").click()
    busy = shown.tab.frame.get_by_role("button", name="Taking a seat")
    expect(busy).to_be_disabled()
    shown.tab.page.clock.fast_forward(21_000)
    expect(shown.tab.frame.locator(".dock p")).to_contain_text(
        "has not answered", timeout=WAIT_MAX_MS
    )
    expect(shown.tab.frame.get_by_role("button", name="Play again")).to_be_enabled()


def test_a_board_without_moves_keeps_its_place(shown: Shown) -> None:
    shown.tab.page.set_viewport_size({"width": 390, "height": 844})
    top = "board => board.getBoundingClientRect().top"
    board = shown.tab.frame.locator(".board")
    shown.server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    shown.tab.sees("Your turn")
    before = board.evaluate(top)
    shown.server.send(
        {
            "type": "moved",
            "matchId": "mat_1",
            "seq": 2,
            "ply": 1,
            "by": 0,
            "move": "a1",
            "state": {"board": [[0, None, None], [None] * 3, [None] * 3]},
            "turn": 1,
            "legalMoves": ["b2"],
        }
    )
    shown.tab.sees("is thinking")
    assert board.evaluate(top) == before


@pytest.mark.parametrize("shown", ["reversi"], indirect=True)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("size", [(320, 480), (400, 720), (680, 560), (1280, 900)])
def test_the_sentence_about_a_player_without_a_connection_is_shown_whole(
    shown: Shown, language: str, size: tuple[int, int]
) -> None:
    shown.tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    state = {"board": empty(8, 8), "scores": [30, 31]}
    gone = {"playerId": "bob", "displayName": "Bob", "connected": False}
    now = shown.tab.page.evaluate("Date.now()")
    clocks = {"deadlineAtMs": now + 29_000}
    shown.server.send(snapshot("reversi", state, ["d3"], turn=1, opponent=gone, **clocks))
    _is_whole(shown.tab.frame.locator(".opp .away"))
    shown.server.send(snapshot("reversi", state, ["d3"], seq=2, **clocks))
    shown.server.close(4409)
    _is_whole(shown.tab.frame.locator(".own .away"))


def _is_whole(away: Locator) -> None:
    away.wait_for()
    line = "away => [away, away.parentElement].every((one) => one.scrollWidth <= one.clientWidth)"
    assert away.evaluate(line), (away.inner_text(), away.evaluate(_ROOM))
