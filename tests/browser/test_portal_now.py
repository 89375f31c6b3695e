"""The portal's page of calls as they are made, in a real browser."""

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_admin, by_key, seat
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


_AFTERWARDS = """async () => {
  await (await fetch('/docs/errors.json')).json();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""
"""Resolves when the page has drawn what it had asked for before."""


def _listen(visitor: Visitor, environment: str = "test") -> None:
    """Open the page, and wait until its stream is open."""
    with visitor.page.expect_response(lambda reply: "/partner/admin/live" in reply.url):
        visitor.open(f"/portal/{environment}/now")
    visitor.stands_at("Calls now")


def _rows(visitor: Visitor, text: str) -> Locator:
    return visitor.page.locator(".feed li", has_text=text)


def test_a_call_is_seen_as_it_is_made_and_a_refused_one_says_why_and_what_to_do(
    viewer: Visitor,
) -> None:
    _listen(viewer)
    by_key(viewer.demo, "GET", "/partner/me")
    _rows(viewer, "GET /partner/me").wait_for()
    assert seat(viewer.demo, "moss-31", "n1", stakeUsdCents=1)["_status"] == 400
    page = viewer.page
    page.get_by_role("heading", name="Refused: stake below floor").wait_for()
    page.get_by_text("The stake is below this tier's floor of 100 cents.").wait_for()
    page.get_by_text("Send at least floorUsdCents.").wait_for()
    expect(_rows(viewer, "stake_below_floor")).to_have_count(1)  # not the refusal as well
    assert page.get_by_role("link", name="See the prices").get_attribute("href") == (
        "/portal/test/prices"
    )
    curl = page.get_by_role("region", name="Call as curl").inner_text()
    assert curl.startswith("curl -X POST")
    assert "Bearer $PGS_TEST_KEY" in curl
    assert viewer.demo["testKey"] not in page.content()
    by_key(viewer.demo, "POST", "/partner/sessions", {})
    page.get_by_role("heading", name="Refused: a malformed call").wait_for()
    page.get_by_text("Refused: 2 of").wait_for()
    viewer.press("Refused")
    assert page.url.endswith("?only=refused")
    expect(_rows(viewer, "GET /partner/me")).to_have_count(0)
    expect(_rows(viewer, "400")).to_have_count(2)
    assert axe_faults_in_both_schemes(page) == []


def test_advice_that_comes_late_is_not_shown_with_the_next_refusal(viewer: Visitor) -> None:
    held: list[Route] = []
    viewer.page.route("**/docs/errors.json", lambda route: held.append(route))
    _listen(viewer)
    with viewer.page.expect_request("**/docs/errors.json"):
        assert seat(viewer.demo, "moss-31", "late", stakeUsdCents=1)["_status"] == 400
    by_key(viewer.demo, "POST", "/partner/sessions", {})
    viewer.page.get_by_role("heading", name="Refused: a malformed call").wait_for()
    with viewer.page.expect_response("**/docs/errors.json"):
        held[0].continue_()
    viewer.page.unroute_all()
    viewer.page.evaluate(_AFTERWARDS)
    assert viewer.page.get_by_text("Send at least floorUsdCents.").count() == 0
    _rows(viewer, "stake_below_floor").get_by_role("button").click()
    viewer.page.get_by_text("Send at least floorUsdCents.").wait_for()


def test_seats_matches_and_nudges_come_and_a_pause_holds_them_back(viewer: Visitor) -> None:
    _listen(viewer)
    first = seat(viewer.demo, "ivy-77", "n2")
    assert first["status"] == "waiting"
    _rows(viewer, "ivy-77 waits for an opponent").wait_for()
    page = viewer.page
    page.keyboard.press("Space")
    page.get_by_role("status").get_by_text("Paused.").wait_for()
    match_id = seat(viewer.demo, "fern-9", "n3")["matchId"]
    page.get_by_role("button", name="Go on, ").wait_for()
    assert _rows(viewer, "fern-9").count() == 0
    page.get_by_role("status").get_by_text("new.").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    page.keyboard.press("Space")
    _rows(viewer, "fern-9 is paired").wait_for()
    viewer.press("Nudges")
    _rows(viewer, "your server answered 200").first.get_by_role("button").click()
    page.get_by_role("link", name="See the match").click()
    page.get_by_role("heading", level=1, name="ivy-77 plays fern-9").wait_for()
    assert page.url.endswith(f"/portal/test/matches/{match_id}")
    winner = {"outcome": "ended", "winnerPlayerId": None}
    by_key(viewer.demo, "POST", f"/partner/test/matches/{match_id}/decide", winner)


def test_calls_of_live_and_test_are_streamed_separately_and_a_reload_shows_none(
    viewer: Visitor,
) -> None:
    _listen(viewer, "live")
    by_key(viewer.demo, "GET", "/partner/me")
    viewer.page.get_by_role("heading", name="Nothing has called yet").wait_for()
    assert "$PGS_LIVE_KEY" in viewer.page.get_by_role("region", name="Call as curl").inner_text()
    assert axe_faults_in_both_schemes(viewer.page) == []
    viewer.page.set_viewport_size({"width": 360, "height": 700})
    _listen(viewer)
    assert seat(viewer.demo, "moss-31", "n4", stakeUsdCents=1)["_status"] == 400
    _rows(viewer, "stake_below_floor").wait_for()
    assert axe_faults_in_both_schemes(viewer.page) == []
    assert viewer.page.evaluate("document.documentElement.scrollWidth") <= 360
    _listen(viewer)
    assert _rows(viewer, "stake_below_floor").count() == 0
    viewer.page.set_viewport_size({"width": 1280, "height": 800})


def test_rows_stay_while_another_page_is_open_and_the_gap_is_told(viewer: Visitor) -> None:
    _listen(viewer)
    by_key(viewer.demo, "GET", "/partner/me")
    _rows(viewer, "GET /partner/me").wait_for()
    viewer.page.get_by_role("link", name="Find a match", exact=True).first.click()
    viewer.stands_at("Find a match")
    viewer.page.go_back()
    viewer.stands_at("Calls now")
    expect(_rows(viewer, "GET /partner/me")).to_have_count(1)
    _rows(viewer, "Not listening for").first.get_by_role("button").click()
    viewer.page.get_by_text("What was called in that time is not listed.").wait_for()
    assert axe_faults_in_both_schemes(viewer.page) == []
    by_key(viewer.demo, "GET", "/partner/results")
    _rows(viewer, "GET /partner/results").first.wait_for()


def test_somebody_who_is_removed_is_told_that_the_stream_has_ended(viewer: Visitor) -> None:
    _listen(viewer)
    assert by_admin(viewer.demo, "DELETE", "members/demo-developer")["_status"] == 200
    viewer.page.get_by_text("The stream is not open.").wait_for()
