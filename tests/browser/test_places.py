"""Nothing moves that the player looks at or presses, and a press is answered at once."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import WAIT_MAX_MS
from tests.browser.positions import SIZES, STATES
from tests.browser.scripted_server import CHESS_START, empty, snapshot
from tests.browser.shown import Shown, showing
from tests.browser.test_cards import LANGUAGES
from tests.browser.test_phone import AFTER, OPENING
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

NAMED: Final = {state.name: state for state in STATES}
NAME: Final = "Amara Okafor"
"""A name with a first and a last part, as most players have one."""

_BOX: Final = """element => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x, y, width, height].map(Math.round).join(" ");
}"""


_RESIZED: Final = """async ([width, height]) => {
  const frame = () => new Promise(requestAnimationFrame);
  while (innerWidth !== width || innerHeight !== height) await frame();
  await frame();
  await frame();
}"""


def _resize(shown: Shown, size: tuple[int, int]) -> None:
    shown.tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.document.evaluate(_RESIZED, size)


def _opening(shown: Shown, **fields: Any) -> None:
    opponent = {"playerId": "o", "displayName": NAME, "connected": True}
    state = {"fen": AFTER, "check": False}
    now = shown.tab.page.evaluate("Date.now()")
    clocks = {"deadlineAtMs": now + 60_000, "remainingMs": [60_000, 45_000]}
    given = {"ply": 10, "moves": OPENING, "opponent": opponent, **clocks, **fields}
    shown.server.send(snapshot("chess", state, ["e1g1"], **given))


@pytest.mark.parametrize(
    "shown", [("chess", "en-US"), ("chess", "de-DE"), ("chess", "ar-EG")], indirect=True
)
@pytest.mark.parametrize("size", SIZES)
def test_the_buttons_that_step_keep_their_places(shown: Shown, size: tuple[int, int]) -> None:
    _resize(shown, size)
    _opening(shown)
    steps = shown.tab.frame.locator(".steps .tool")
    expect(steps).to_have_count(2, timeout=WAIT_MAX_MS)
    flag = shown.tab.frame.locator(".dock .bare")
    before = [steps.nth(at).evaluate(_BOX) for at in range(2)], flag.evaluate(_BOX)
    for _ in range(3):
        steps.first.click()
    expect(steps).to_have_count(3, timeout=WAIT_MAX_MS)
    assert [steps.nth(at).evaluate(_BOX) for at in range(2)] == before[0]
    steps.nth(1).click()
    steps.nth(1).click()
    steps.nth(1).click()
    expect(steps).to_have_count(2, timeout=WAIT_MAX_MS)
    assert ([steps.nth(at).evaluate(_BOX) for at in range(2)], flag.evaluate(_BOX)) == before


@pytest.mark.parametrize("shown", [("chess", "en-US"), ("reversi", "de-DE")], indirect=True)
@pytest.mark.parametrize("size", SIZES)
def test_the_board_keeps_its_place_while_a_match_runs(shown: Shown, size: tuple[int, int]) -> None:
    _resize(shown, size)
    game = shown.server.session["gameId"]
    board = shown.tab.frame.locator(".board")
    places = {}
    for name in ("waiting", "your turn", "their turn", "away", "low", "earlier position"):
        shown.show(game, NAMED[name], "")
        places[name] = board.evaluate(_BOX)
        shown.leave(NAMED[name])
    assert len(set(places.values())) == 1, places


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize("size", SIZES)
def test_the_end_of_a_match_moves_no_board_and_leaves_the_newest_move_in_sight(
    shown: Shown, size: tuple[int, int]
) -> None:
    _resize(shown, size)
    _opening(shown)
    shown.tab.sees("Your turn")
    board, now = shown.tab.frame.locator(".board"), shown.tab.frame.locator(".now")
    before = board.evaluate(_BOX)
    ended = {"outcome": "ended", "result": "lost", "endReason": "resigned", "dueUsdCents": 0}
    shown.server.send({"type": "ended", "matchId": "mat_1", "seq": 2, **ended})
    shown.tab.sees("You lost")
    assert board.evaluate(_BOX) == before
    inside = """now => {
      const [one, list] = [now, now.closest(".moves")].map((part) => part.getBoundingClientRect());
      return one.top >= list.top && one.bottom <= list.bottom;
    }"""
    assert now.evaluate(inside)


_ENDS: Final = ("won", "won on time", "lost", "drawn", "void")

_PANEL_FAULTS: Final = """() => {
  const inside = (inner, outer) => inner.left >= outer.left - 0.5 && inner.top >= outer.top - 0.5 &&
    inner.right <= outer.right + 0.5 && inner.bottom <= outer.bottom + 0.5;
  const panel = document.querySelector(".dock.end");
  const boxOf = (part) => part.getBoundingClientRect();
  const whole = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const faults = inside(boxOf(panel), whole) ? [] : ["the panel is outside"];
  const [mine, board] = [boxOf(panel), boxOf(document.querySelector(".board"))];
  if (mine.top < board.bottom && board.top < mine.bottom &&
      mine.left < board.right && board.left < mine.right) {
    faults.push("the panel lies on the board");
  }
  for (const part of panel.querySelectorAll("h2, p, button")) {
    const name = part.getAttribute("aria-label") ?? part.textContent;
    if (!inside(boxOf(part), boxOf(panel))) faults.push(`${name} is outside the panel`);
  }
  return faults;
}"""


@pytest.mark.parametrize(
    ("shown", "game"), [("chess", "chess"), ("connect-four", "connect-four")], indirect=["shown"]
)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_every_end_in_every_language_fits_beside_the_unmoved_board(
    shown: Shown, game: str, language: str
) -> None:
    shown.says(f"{{ type: 'pgs.host', again: true, lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    board, faults = shown.tab.frame.locator(".board"), []
    shown.show(game, NAMED["your turn"], "")
    shown.tab.frame.locator(".clock").first.wait_for()
    before = {}
    for size in SIZES:
        _resize(shown, size)
        before[size] = board.evaluate(_BOX)
    shown.leave(NAMED["your turn"])
    for name in (*_ENDS, "the next seat waits"):
        if name in NAMED:
            shown.show(game, NAMED[name], "")
        else:
            # The longest text: how a match was lost, what became of the stake, and the next seat.
            shown.show(game, NAMED["lost"], "")
            shown.server.send({"type": "waiting", "seatId": "sea_2"})
            shown.tab.frame.locator(".dock.long").wait_for()
        for size in SIZES:
            _resize(shown, size)
            if (after := board.evaluate(_BOX)) != before[size]:
                faults.append(f"{name}, {size}: the board was at {before[size]}, is at {after}")
            faults += [f"{name}, {size}: {one}" for one in shown.document.evaluate(_PANEL_FAULTS)]
    assert faults == []


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
def test_the_clocks_of_both_players_stay_at_the_end(shown: Shown) -> None:
    _opening(shown)
    shown.tab.sees("Your turn")
    clocks = shown.tab.frame.locator(".clock")
    ended = {"outcome": "ended", "result": "won", "endReason": "resigned", "dueUsdCents": 900}
    shown.server.send({"type": "ended", "matchId": "mat_1", "seq": 2, **ended})
    shown.tab.sees("You won")
    expect(clocks).to_have_count(2, timeout=WAIT_MAX_MS)
    stopped = clocks.all_inner_texts()
    assert stopped[0] == "0:45"
    shown.tab.page.wait_for_timeout(1_200)
    assert clocks.all_inner_texts() == stopped


_CUT: Final = """title => title.scrollWidth > title.clientWidth + 1 ||
  title.scrollHeight > title.clientHeight + 1"""


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_whose_turn_it_is_can_be_read_in_the_smallest_frame(shown: Shown, language: str) -> None:
    _resize(shown, (320, 480))
    shown.says(f"{{ type: 'pgs.host', lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)
    _opening(shown, turn=1)
    title = shown.tab.frame.locator(".dock .headline", has_text=NAME)
    assert not title.evaluate(_CUT), title.inner_text()


@pytest.mark.parametrize("way", ["mouse", "touch"])
def test_a_chess_piece_is_held_as_soon_as_it_is_pressed(
    browser: Browser, service: SharedService, partner: Partner, site: str, way: str
) -> None:
    base, touch = service.client.base_url, way == "touch"
    with showing(browser, base, partner.partner_id, site, "chess", has_touch=touch) as shown:
        page = shown.tab.page
        shown.server.send(snapshot("chess", {"fen": CHESS_START}, ["e2e4", "g1f3"]))
        shown.tab.sees("Your turn")
        box = shown.tab.cell("e2").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        session = page.context.new_cdp_session(page)
        held = shown.tab.frame.locator(".held")

        def press(down: bool) -> None:
            if touch:
                points = [{"x": x, "y": y}] if down else []
                kind = "touchStart" if down else "touchEnd"
                session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            elif down:
                page.mouse.move(x, y)
                page.mouse.down()
            else:
                page.mouse.up()

        press(True)
        expect(held).to_have_attribute("data-cell", "e2", timeout=WAIT_MAX_MS)
        press(False)
        page.wait_for_timeout(100)
        assert held.count() == 1, "the click that ends the press does not put it down"
        press(True)
        press(False)
        expect(held).to_have_count(0, timeout=WAIT_MAX_MS)


@pytest.mark.parametrize("shown", ["connect-four"], indirect=True)
def test_a_disc_is_on_the_board_before_the_server_has_answered(shown: Shown) -> None:
    shown.server.send(snapshot("connect-four", {"board": empty(6, 7)}, ["4"]))
    shown.tab.sees("Your turn")
    shown.tab.cell("d6").click()
    mark = shown.tab.cell("d1").locator(".mark")
    mark.wait_for()
    shown.server.send({"type": "error", "reason": "rate_limited", "ref": "mat_1"})
    expect(mark).to_have_count(0, timeout=WAIT_MAX_MS)
    assert shown.server.wait("move")["move"] == "4"


def test_a_frame_that_waits_draws_nothing_again_and_again(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["no seat"])
    session = shown.tab.page.context.new_cdp_session(shown.tab.page)
    session.send("Performance.enable")

    def busy() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "ScriptDuration"))

    before = busy()
    shown.tab.page.wait_for_timeout(2_000)
    assert busy() - before < 0.1


def test_the_focus_survives_the_launch_of_the_next_match(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["won"])
    shown.tab.frame.get_by_role("button", name="Play again").press("Enter")
    shown.server.send({"type": "waiting", "seatId": "sea_2"})
    shown.tab.sees("Waiting for an opponent")
    opponent = {"playerId": "o", "displayName": NAME, "connected": True}
    fields = {"matchId": "mat_next", "opponent": opponent}
    shown.server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["b2"], **fields))
    shown.tab.sees("Your turn")
    shown.tab.focuses('[data-cell="b2"]')
    shown.tab.page.keyboard.press("Enter")
    assert shown.server.wait("move")["matchId"] == "mat_next"
