"""The portal's page on which a test match is played, in a real browser."""

import json
import os
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_admin, join
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_KEY = "pgs_test_"


@pytest.fixture(scope="module")
def admin(browser: Browser, demo: dict[str, str], admin_window: None) -> Iterator[Visitor]:
    """The demo's admin."""
    visitor = Visitor(browser, demo)
    visitor.open("/portal/test/try")
    visitor.sign_in()
    yield visitor
    visitor.close()


def _open(visitor: Visitor, game: str = "Tic-tac-toe") -> None:
    visitor.open("/portal/test/try")
    visitor.stands_at("Try it")
    visitor.page.get_by_label("Game", exact=True).select_option(label=game)


def _frame(visitor: Visitor, number: int) -> FrameLocator:
    return visitor.page.frame_locator(".player iframe").nth(number)


def test_a_match_is_played_on_both_sides_and_its_timeline_is_shown(admin: Visitor) -> None:
    _open(admin)
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.press("Seat two test players")
    admin.page.get_by_text("alice is to move.").wait_for()
    for number, cell in ((0, "a1"), (1, "b1"), (0, "a2"), (1, "b2"), (0, "a3")):
        _frame(admin, number).locator(f'[aria-label="{cell}, empty, playable"]').click()
    admin.page.get_by_text("Done: alice won against bob. $1.80 was paid to alice.").wait_for()
    admin.page.locator('[data-step="feed"][data-state="done"]').wait_for()
    row = admin.page.locator("tr", has_text="alice-")
    for text in ("won", "completed", "$1.80"):
        row.get_by_text(text, exact=True).wait_for()
    admin.page.locator('[data-step="nudge"][data-state="done"]').first.wait_for()
    for summary in admin.page.locator("summary").all():
        summary.click()
    calls = admin.page.locator(".codebox pre").all_inner_texts()
    assert len([text for text in calls if text.startswith("curl")]) == len(calls) >= 6
    assert all("Bearer $PGS_TEST_KEY" in text for text in calls)
    assert _KEY not in admin.page.content()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.set_viewport_size({"width": 360, "height": 700})
    assert axe_faults_in_both_schemes(admin.page) == []
    assert admin.page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = [box.bounding_box() for box in admin.page.locator(".player").all()]
    assert len({box["x"] for box in boxes if box}) == 1  # one above the other
    admin.page.set_viewport_size({"width": 1280, "height": 800})
    admin.page.get_by_role("link", name="Its timeline").click()
    _look_through_the_match(admin)


def _look_through_the_match(admin: Visitor) -> None:
    page = admin.page
    page.get_by_role("heading", level=1, name="won against").wait_for()
    for part in ("took a seat", "charged", "Paired", "5 moves", "won against", "kept as rake"):
        page.locator(".tl h2", has_text=part).first.wait_for()
    page.get_by_text("$1.00 + $1.00 = $1.80 + $0.20").wait_for()
    page.get_by_text("“Try it” seated the two together.").wait_for()
    slider = page.get_by_role("slider", name="Move")
    expect(slider).to_have_value("5")
    expect(page.locator(".board .line")).to_have_count(3)
    admin.press("One move back")
    page.get_by_text("Move 4 of 5: bob-").wait_for()
    expect(page.locator(".board .cross")).to_have_count(2)
    expect(page.locator(".board .ring")).to_have_count(2)
    slider.press("Home")
    page.get_by_text("Before the first of 5 moves").wait_for()
    slider.press("ArrowRight")
    page.get_by_text("Move 1 of 5: alice-").wait_for()
    assert axe_faults_in_both_schemes(page) == []


def test_the_call_that_is_shown_ends_the_match_when_it_is_run_in_a_shell(admin: Visitor) -> None:
    _open(admin)
    admin.press("Seat two test players")
    admin.page.get_by_text("alice is to move.").wait_for()
    shown = admin.page.get_by_role("region", name="Decide as curl")
    for choice, sent in (
        ("Drawn", '"winnerPlayerId":null'),
        ("No contest", '"outcome":"no_contest"'),
        ("bob wins", '"winnerPlayerId":"bob-'),
    ):
        admin.press(choice)
        expect(shown).to_contain_text(sent)
    assert axe_faults_in_both_schemes(admin.page) == []
    call = shown.inner_text()
    assert _KEY not in call
    known = {**os.environ, "PGS_TEST_KEY": admin.demo["testKey"]}
    told = subprocess.run(
        ["bash", "-c", call], env=known, capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout)["status"] == "ended"
    admin.page.get_by_text("Done: bob won against alice. $1.80 was paid to bob.").wait_for()
    admin.page.locator('[data-step="feed"][data-state="done"]').wait_for()
    expect(shown).to_have_count(0)


def test_a_refused_test_match_shows_the_reason_and_a_link_that_helps(admin: Visitor) -> None:
    _open(admin, "Reversi")
    assert by_admin(admin.demo, "DELETE", "games/reversi/test")["_status"] == 200
    try:
        admin.press("Seat two test players")
        # Turning the game off has raised the account's revision since the page was read.
        admin.press("Continue anyway")
        admin.page.get_by_text("game_not_licensed").wait_for()
        admin.page.get_by_text("Your server would get the same answer.").wait_for()
        assert axe_faults_in_both_schemes(admin.page) == []
        admin.page.get_by_role("link", name="See the games").click()
        admin.stands_at("Games")
    finally:
        assert by_admin(admin.demo, "POST", "games/reversi/test")["_status"] == 200


def test_another_origin_cannot_show_the_portals_frame(
    browser: Browser, demo: dict[str, str], site: str
) -> None:
    page = browser.new_page()
    page.goto(site)
    shown = """(src) => new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.onload = () => done();
      frame.src = src;
      document.body.append(frame);
    })"""
    page.evaluate(shown, f"{demo['baseUrl']}/portal/frame/test/{demo['partnerId']}")
    page.frames[1].wait_for_url("chrome-error:**")
    page.evaluate(shown, site)
    assert page.frames[2].url.startswith(site)  # the page does load other frames
    page.close()


def test_a_viewer_watches_and_a_developer_seats(browser: Browser, demo: dict[str, str]) -> None:
    visitor = join(browser, demo, "viewer")
    visitor.open("/portal/test/try")
    visitor.stands_at("Try it")
    visitor.page.get_by_text("A viewer can watch.").wait_for()
    assert visitor.page.locator("main button").count() == 0
    assert axe_faults_in_both_schemes(visitor.page) == []
    changed = by_admin(demo, "PATCH", "members/demo-developer", {"role": "developer"})
    assert changed["_status"] == 200
    _open(visitor)
    visitor.press("Seat two test players")
    visitor.page.get_by_text("alice is to move.").wait_for()
    visitor.close()
