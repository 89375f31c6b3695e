"""The frame prevents costly mistakes, and everybody can use it."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import WAIT_MAX_MS
from tests.browser.positions import STATES
from tests.browser.scripted_server import empty, snapshot
from tests.browser.shown import Shown, showing
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

NAMED = {state.name: state for state in STATES}
START = {"board": empty(3, 3)}


@pytest.mark.parametrize("size", [(320, 480), (400, 720), (680, 560), (1280, 900)])
def test_a_double_click_on_resign_does_not_resign(shown: Shown, size: tuple[int, int]) -> None:
    shown.tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.tab.frame.locator(".dock .bare").dblclick()
    dialog = shown.tab.frame.get_by_role("alertdialog", name="Resign this match?")
    expect(dialog).to_contain_text("You lose your stake of $500.00", timeout=WAIT_MAX_MS)
    shown.tab.focuses('button:has-text("Play on")')
    shown.tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0, timeout=WAIT_MAX_MS)
    shown.tab.cell("b2").click()
    shown.server.wait("move")
    assert not [message for message in shown.server.received if message["type"] == "resign"]


@pytest.mark.parametrize("shown", ["connect-four"], indirect=True)
def test_connect_four_has_one_labelled_button_for_each_of_its_seven_columns(shown: Shown) -> None:
    shown.show("connect-four", NAMED["your turn"])
    columns = shown.tab.frame.get_by_role("group", name="Connect four board").get_by_role("button")
    assert columns.count() == 7
    assert columns.nth(3).get_attribute("aria-label") == "Column 4, 6 places free, playable"
    assert columns.nth(1).get_attribute("aria-label") == "Column 2, 6 places free"
    shown.tab.page.keyboard.press("Tab")
    shown.tab.focuses('[data-column="4"]')
    shown.tab.page.keyboard.press("ArrowLeft")
    shown.tab.focuses('[data-column="3"]')


def test_a_press_while_the_opponent_thinks_is_answered(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["their turn"])
    shown.tab.cell("a1").click(force=True)
    shown.tab.frame.locator(".dock p", has_text="not your turn").wait_for()
    shown.tab.hears("It is not your turn yet.")


@pytest.mark.parametrize("shown", ["reversi", "connect-four"], indirect=True)
def test_a_double_click_in_an_earlier_position_plays_no_move(shown: Shown) -> None:
    game = shown.server.session["gameId"]
    shown.show(game, NAMED["earlier position"])
    cell = shown.tab.cell("d3")
    cell.dblclick(force=True)
    expect(shown.tab.frame.locator(".board-area.past")).to_have_count(0, timeout=WAIT_MAX_MS)
    assert not [message for message in shown.server.received if message["type"] == "move"]
    cell.click()
    assert shown.server.wait("move")["move"] in ("d3", "4")


def test_announcements_are_kept_one_after_the_other(shown: Shown) -> None:
    shown.server.send(snapshot("tic-tac-toe", START, ["a1"], deadlineAtMs=1))
    log = shown.tab.frame.locator("[role=log] p")
    expect(log.last).to_contain_text("Your turn", timeout=WAIT_MAX_MS)
    assert "You play X" in " ".join(log.all_inner_texts())


def test_a_lost_connection_says_that_seat_and_match_are_safe(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.server.close(4503)
    shown.tab.hears("Your seat and match are safe. Your clock is running.")


def test_a_replaced_frame_offers_no_resignation(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.server.close(4409)
    shown.tab.sees("another window")
    assert shown.tab.frame.get_by_role("button", name="Resign").count() == 0
    shown.tab.frame.get_by_role("button", name="Play here instead").wait_for()


def test_the_host_page_is_asked_for_another_match(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["won"])
    shown.tab.page.evaluate(
        "() => addEventListener('message', (event) => (window.told ??= []).push(event.data))"
    )
    shown.tab.frame.get_by_role("button", name="Play again").click()
    shown.tab.page.wait_for_function("(window.told ?? []).some((m) => m.type === 'pgs.again')")


def test_a_box_that_is_too_low_is_reported_with_the_height_that_is_needed(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.tab.page.set_viewport_size({"width": 400, "height": 250})
    shown.tab.page.wait_for_function("document.querySelector('iframe').clientHeight > 300")


def test_the_page_chooses_the_language_and_arabic_is_written_from_right_to_left(
    shown: Shown,
) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    shown.says("{ type: 'pgs.host', lang: 'de' }")
    shown.tab.sees("Sie sind am Zug")
    assert "500,00" in shown.tab.frame.locator(".pot dd").first.inner_text()
    shown.says("{ type: 'pgs.host', lang: 'ar' }")
    shown.tab.sees("دورك")
    assert shown.tab.frame.locator("html").get_attribute("dir") == "rtl"
    assert shown.tab.errors == []


def test_a_player_of_several_matches_chooses_between_them(shown: Shown) -> None:
    for number, name in ((1, "Bob"), (2, "Eve")):
        opponent = {"playerId": name, "displayName": name, "connected": True}
        fields = {"matchId": f"mat_{number}", "turn": number - 1, "opponent": opponent}
        shown.server.send(snapshot("tic-tac-toe", START, ["a1"], **fields))
    shown.tab.sees("Your turn")
    shown.tab.frame.get_by_label("Your matches").select_option("mat_2")
    shown.tab.sees("is thinking")


def test_forced_colours_show_whose_turn_it_is_and_large_text_leaves_all_controls_in_reach(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    base = service.client.base_url
    with showing(
        browser, base, partner.partner_id, site, "tic-tac-toe", forced_colors="active"
    ) as shown:
        shown.tab.page.set_viewport_size({"width": 400, "height": 720})
        shown.show("tic-tac-toe", NAMED["your turn"])
        outline = "plate => getComputedStyle(plate).outlineStyle"
        assert shown.tab.frame.locator(".plate.own").evaluate(outline) == "solid"
        assert shown.tab.frame.locator(".plate.opp").evaluate(outline) == "none"
        shown.document.evaluate("document.documentElement.style.fontSize = '200%'")
        shown.tab.frame.locator(".dock .bare").click()
        shown.tab.frame.get_by_role("button", name="Play on").click()
        assert shown.document.evaluate("document.documentElement.scrollWidth <= innerWidth")
