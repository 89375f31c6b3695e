"""A live match while it is played: on the page that finds matches, and on its own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.live_match import LiveMatch, running_live_match
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def running(demo: dict[str, str]) -> Iterator[LiveMatch]:
    """A live match of the demo's account."""
    with running_live_match(demo, "live-ana", "live-ben") as match:
        yield match


def _listed(page: Page) -> Locator:
    return page.get_by_role("region", name="Latest matches").locator("tbody tr")


def _fits_and_is_accessible(page: Page) -> None:
    assert axe_faults_in_both_schemes(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert axe_faults_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_running_live_match_is_listed_and_found_by_its_status(
    viewer: Visitor, running: LiveMatch
) -> None:
    page = viewer.page
    viewer.go("live/find", "Find a match")
    expect(_listed(page)).to_have_count(1)
    for text in ("runs", "held", "live-ana", "live-ben", "Tic-tac-toe, Bronze"):
        expect(_listed(page)).to_contain_text(text)
    viewer.press("Running")
    expect(_listed(page)).to_have_count(1)
    assert page.url.endswith("/portal/live/find?status=started")
    _fits_and_is_accessible(page)
    viewer.press("Decided")
    page.get_by_role("heading", name="Nothing matches these filters").wait_for()


def test_the_page_of_a_running_live_match_shows_its_moves_and_follows_it_to_its_end(
    viewer: Visitor, running: LiveMatch
) -> None:
    page = viewer.page
    viewer.go("live/find?q=live-ben&status=started", "Find a match")
    page.get_by_text("live-ben has 1 match in live").wait_for()
    page.locator("main tbody").get_by_role("link").click()
    title = page.get_by_role("heading", level=1, name="live-")
    expect(title).to_contain_text(" plays ")
    assert page.url.endswith(f"/portal/live/matches/{running.match_id}")
    page.get_by_text("The stakes of $1.00 and $1.00 are held; the prize is $1.80.").first.wait_for()
    page.get_by_text("gets what the end brings").first.wait_for()
    page.get_by_text("not recorded yet").wait_for()
    page.get_by_role("heading", name="Board").wait_for()
    _fits_and_is_accessible(page)
    running.resign()
    expect(title).to_have_text(f"{running.winner} won against {_loser(running)}")
    page.get_by_text("the other player gave up").first.wait_for()
    viewer.go("live/find?status=ended", "Find a match")
    expect(_listed(page)).to_contain_text("decided")


def _loser(match: LiveMatch) -> str:
    return next(player for player in match.players if player != match.winner)
