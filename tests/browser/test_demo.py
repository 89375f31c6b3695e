"""The demo partner's page in a real browser, served by `pgs demo` as a user starts it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.demo import DemoTab, running_demo
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.browser

_STUB = """window.PgsEmbed = { mount(element, options) {
  (window.mounts ??= []).push(options);
  return { unmount() {} };
} };"""
"""A helper that mounts nothing and keeps the options of each frame."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A demo that has told its story."""
    with running_demo(tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest.fixture
def tab(browser: Browser, demo: dict[str, str]) -> Iterator[DemoTab]:
    """The demo's page, with no match that runs."""
    opened = DemoTab(browser, demo)
    opened.page.get_by_role("button", name="New match").wait_for()
    yield opened
    opened.close()


def _question(page: Page) -> Any:
    return page.get_by_role("dialog", name="End the running match?")


def test_a_match_is_played_in_both_frames_and_the_feed_is_shown(tab: DemoTab) -> None:
    page, demo = tab.page, tab.demo
    # The rows that the demo starts with.
    page.locator("#feed tbody tr", has_text="player-1").first.wait_for()
    match_id = tab.begin("Tic-tac-toe")
    for ply, cell in enumerate(("a1", "a2", "b1", "b2", "c1")):
        tab.both_see(match_id, ply)
        tab.player(ply % 2).locator(f'[data-cell="{cell}"]').click()
    tab.row(match_id, "site-1", "won", "$9.00")
    tab.row(match_id, "site-2", "lost", "$0.00")
    page.locator("#nudges li", has_text="verified").nth(2).wait_for()

    tab.player(0).get_by_role("button", name="Play again").click()
    again = tab.shows_another_than(match_id)
    tab.both_see(again, 0)  # in the same frames
    assert tab.decide(again) == 200

    match_id = tab.begin("Reversi")
    tab.both_see(match_id, 0)
    page.reload()  # the match goes on
    tab.both_see(match_id, 0)
    assert tab.match_id == match_id
    assert tab.errors == []
    assert tab.origins == {demo["siteUrl"], demo["baseUrl"]}


def test_a_new_match_asks_before_it_ends_a_running_one(tab: DemoTab) -> None:
    page = tab.page
    first = tab.begin("Tic-tac-toe")
    for leave in ("Enter", "Escape"):
        page.get_by_role("button", name="New match").click()
        question = _question(page)
        question.get_by_text("Both players get their stake of $5.00 back.").wait_for()
        page.wait_for_function("document.activeElement.textContent === 'Play on'")
        page.keyboard.press(leave)
        question.wait_for(state="hidden")
        assert tab.match_id == first
    tab.row(first, "site-1", "started")

    page.get_by_label("Game", exact=True).select_option(label="Reversi")
    page.get_by_role("button", name="New match").click()
    _question(page).get_by_role("button", name="End it and begin another").click()
    second = tab.shows_another_than(first)
    tab.row(first, "site-1", "no contest")
    tab.row(second, "site-1", "started", "Reversi")
    assert not [error for error in tab.errors if "409" not in error]


def test_play_again_begins_a_match_of_the_same_game_in_the_same_frames(tab: DemoTab) -> None:
    page = tab.page
    page.route("**/embed/pgs-embed.js", lambda route: route.fulfill(body=_STUB))
    page.reload()
    page.get_by_role("button", name="New match").wait_for()
    first = tab.begin("Connect Four")
    page.wait_for_function("() => mounts.length >= 2")
    mounts = page.evaluate("mounts.length")
    tab.decide(first)
    page.evaluate("mounts.at(-1).onAgain({ type: 'pgs.again' })")
    second = tab.shows_another_than(first)
    tab.row(second, "site-2", "started", "Connect Four")
    # When the other player presses too, the match that has begun goes on.
    page.evaluate("mounts.at(-2).onAgain({ type: 'pgs.again' })")
    page.get_by_role("button", name="New match").and_(page.locator(":enabled")).wait_for()
    assert tab.match_id == second
    assert _question(page).count() == 0
    assert page.evaluate("mounts.length") == mounts


def test_the_inspector_shows_each_call_as_curl_without_the_key(tab: DemoTab) -> None:
    page, demo = tab.page, tab.demo
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    match_id = tab.begin("Tic-tac-toe")
    # The oldest one, since newer calls come above it.
    mint = page.locator(".entry", has_text="/partner/sessions").last
    mint.get_by_role("button", name="Copy as curl").click()
    page.wait_for_function(
        "() => navigator.clipboard.readText().then((text) => text.includes('/partner/sessions'))"
    )
    line = page.evaluate("navigator.clipboard.readText()")
    assert "$KEY" in line
    assert demo["testKey"] not in page.content()
    ran = subprocess.run(
        ["sh", "-c", line],
        env={"PATH": os.environ["PATH"], "KEY": demo["testKey"]},
        capture_output=True,
        check=True,
        timeout=PATIENCE_S,
    )
    assert msgspec.json.decode(ran.stdout)["playerUid"].startswith("ptr:test:demo:site-")

    mint.locator("summary").click()
    mint.get_by_text("(not shown)").wait_for()  # the session's token
    page.get_by_role("button", name="Frames", exact=True).click()
    page.locator(".entry", has_text="pgs.state").filter(has_text=match_id).first.wait_for()
    assert tab.errors == []


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    browser: Browser, demo: dict[str, str], width: int
) -> None:
    how = {"viewport": {"width": width, "height": 844}, "color_scheme": "dark"}
    with closing(DemoTab(browser, demo, **how)) as tab:
        page = tab.page
        page.get_by_role("button", name="New match").wait_for()
        assert axe_faults_in_both_schemes(page) == []
        match_id = tab.begin("Reversi")
        tab.both_see(match_id, 0)
        page.locator(".entry summary").first.click()
        assert axe_faults_in_both_schemes(page) == []
        page.get_by_role("button", name="Frames", exact=True).click()
        page.locator(".entry").first.wait_for()
        assert axe_faults_in_both_schemes(page) == []
        page.get_by_role("button", name="New match").click()
        _question(page).wait_for()
        assert axe_faults_in_both_schemes(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert dark == "rgb(20, 22, 28)"
