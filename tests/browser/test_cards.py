"""The frame in other languages, without its session or connection, and at low time."""

from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import axe_faults
from tests.browser.chromium import WAIT_MAX_MS
from tests.browser.positions import SIZES, STATES
from tests.browser.scripted_server import empty, snapshot
from tests.browser.shown import Shown, showing
from tests.browser.test_layout import FAULTS, SCHEMES
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

NAMED: Final = {state.name: state for state in STATES}
START: Final = {"board": empty(3, 3)}

LANGUAGES: Final = {
    "de": "Sie sind am Zug",
    "fr": "À vous de jouer",
    "es": "Su turno",
    "pt": "Sua vez",
    "ar": "دورك",
}
"""Languages, and what each says when it is the player's turn."""

_CUT: Final = """() => {
  const title = document.querySelector(".dock .headline");
  return title.scrollWidth > title.clientWidth + 1 ||
    title.scrollHeight > title.clientHeight + 1;
}"""


def _faults_at_every_size(shown: Shown, where: str) -> list[str]:
    found = []
    for width, height in SIZES:
        shown.tab.page.set_viewport_size({"width": width, "height": height})
        faults = shown.document.evaluate(FAULTS, [width, height])
        found += [f"{where}, {width}x{height}: {one}" for one in faults]
        if where.endswith("your turn") and shown.document.evaluate(_CUT):
            found.append(f"{where}, {width}x{height}: the title is cut off")
    return found


def _axe_in_both_schemes(shown: Shown, where: str) -> list[str]:
    found = []
    for scheme in SCHEMES:
        shown.tab.page.emulate_media(color_scheme=scheme)
        found += [f"{where}, {scheme}: {fault}" for fault in axe_faults(shown.document)]
    return found


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_is_visible_in_every_language(shown: Shown, language: str) -> None:
    shown.says(f"{{ type: 'pgs.host', again: true, lang: '{language}' }}")
    shown.server.send(snapshot("chess", {"fen": "8/8/8/8/8/8/8/K1k5 w"}, ["a1b1"]))
    shown.tab.sees(LANGUAGES[language])
    faults = []
    for name in ("your turn", "resigning", "their turn", "won", "void"):
        shown.show("chess", NAMED[name], "")
        faults += _faults_at_every_size(shown, f"{language}, {name}")
        shown.leave(NAMED[name])
    assert faults == []
    assert shown.document.evaluate("getComputedStyle(document.documentElement).direction") == (
        "rtl" if language == "ar" else "ltr"
    )


_ENDS: Final = {4401: "has run out", 4403: "was ended", 4409: "another window"}


@pytest.mark.parametrize("code", _ENDS)
def test_axe_finds_no_fault_in_a_card_that_ends_the_session(shown: Shown, code: int) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.server.close(code)
    shown.tab.sees(_ENDS[code])
    assert _axe_in_both_schemes(shown, str(code)) == []
    assert _faults_at_every_size(shown, str(code)) == []


def test_axe_finds_no_fault_while_the_game_cannot_be_reached(shown: Shown) -> None:
    shown.tab.page.route("**/game/session", lambda route: route.abort())
    shown.server.close(4503)
    shown.tab.sees("cannot be reached")
    assert _axe_in_both_schemes(shown, "unreachable") == []
    assert _faults_at_every_size(shown, "unreachable") == []


def test_axe_finds_no_fault_while_a_match_reconnects_and_after_a_cancelled_one(
    shown: Shown,
) -> None:
    void = {"outcome": "no_contest", "endReason": "cancelled", "dueUsdCents": 500}
    shown.server.send({"type": "ended", "matchId": "mat_none", "seq": 1, **void})
    shown.tab.sees("No contest")
    faults = _axe_in_both_schemes(shown, "cancelled")
    faults += _faults_at_every_size(shown, "cancelled")
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.tab.page.route("**/game/session", lambda route: route.abort())
    shown.server.close(4503)
    shown.tab.sees("Reconnecting")
    faults += _axe_in_both_schemes(shown, "reconnecting")
    faults += _faults_at_every_size(shown, "reconnecting")
    assert faults == []


@pytest.mark.parametrize("shown", ["reversi"], indirect=True)
def test_the_first_focus_stands_on_a_cell_where_the_player_may_move(shown: Shown) -> None:
    state = {"board": empty(8, 8), "scores": [0, 0]}
    shown.server.send(snapshot("reversi", state, ["a8", "h1"]))
    shown.tab.sees("Your turn")
    shown.tab.page.keyboard.press("Tab")
    shown.tab.frame.locator('[data-cell="a8"]:focus, [data-cell="h1"]:focus').wait_for()
    focused = shown.tab.frame.locator(":focus")
    assert "playable" in (focused.get_attribute("aria-label") or "")
    focused.press("Enter")
    assert shown.server.wait("move")["move"] in ("a8", "h1")


def test_a_name_in_a_right_to_left_script_disturbs_no_text_around_it(shown: Shown) -> None:
    name = "משה כהן"
    opponent = {"playerId": "bob", "displayName": name, "connected": True}
    shown.server.send(snapshot("tic-tac-toe", START, [], turn=1, opponent=opponent))
    shown.tab.sees("is thinking")
    headline = shown.tab.frame.locator(".dock .headline").text_content()
    assert headline == f"\u2068{name}\u2069 is thinking"
    plate = shown.tab.frame.locator(".plate.opp .name")
    assert plate.evaluate("name => [name.dir, getComputedStyle(name).direction]") == ["auto", "rtl"]
    left = "element => Math.round(element.getBoundingClientRect().left)"
    assert plate.evaluate(left) == shown.tab.frame.locator(".plate.own .name").evaluate(left)


def test_low_time_is_announced_and_seen(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    base = service.client.base_url
    with showing(browser, base, partner.partner_id, site, "tic-tac-toe") as shown:
        now = shown.tab.page.evaluate("Date.now()")
        shown.server.send(snapshot("tic-tac-toe", START, ["a1"], deadlineAtMs=now + 12_000))
        shown.tab.sees("Your turn")
        clock = shown.tab.frame.locator(".plate.own .clock")
        colour = "clock => getComputedStyle(clock).backgroundColor"
        before = clock.evaluate(colour)
        assert shown.tab.frame.locator(".clock.low").count() == 0
        shown.tab.hears("10 seconds left.")
        expect(shown.tab.frame.locator(".plate.own .clock.low")).to_have_count(
            1, timeout=WAIT_MAX_MS
        )
        assert clock.evaluate(colour) != before
        assert clock.locator("svg").count() == 1, "colour is not all that tells it"
        assert clock.evaluate("clock => getComputedStyle(clock).textDecorationLine") == "none"
        shown.tab.frame.locator(".dock p", has_text="At 0:00 you lose").wait_for()
