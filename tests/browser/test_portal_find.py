"""The portal's search for matches, and the page of a match, in a real browser."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_key, seat
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def played(demo: dict[str, str]) -> Any:
    """The first seat of a match that `kit-204` has won. Its reference is also a player's id."""
    first = seat(demo, "kit-204", "f1", partnerRef="cart-5512")
    second = seat(demo, "cart-5512", "f2", partnerRef="order-8790")
    decision = {"outcome": "ended", "winnerPlayerId": "kit-204"}
    path = f"/partner/test/matches/{second['matchId']}/decide"
    assert by_key(demo, "POST", path, decision)["_status"] == 200
    return first | {"matchId": second["matchId"]}


def _search(visitor: Visitor, text: str, environment: str = "test") -> None:
    visitor.open(f"/portal/{environment}/find")
    visitor.stands_at("Find a match")
    visitor.page.get_by_role("searchbox").fill(text)
    visitor.page.keyboard.press("Enter")


def test_a_player_a_reference_and_a_key_find_the_match(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    for text, kind in (
        ("kit-204", "a player"),
        ("order-8790", "your reference"),
        ("f1", "an idempotency key"),
    ):
        _search(viewer, text)
        page.get_by_text(f"{text} has 1 match in test").wait_for()
        page.get_by_text(f"Taken for {kind}.").wait_for()
    _search(viewer, "cart-5512")
    page.get_by_text("Taken for a player.").wait_for()
    page.locator("tr", has_text="kit-204").get_by_text("lost").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.press("Look for it as your reference: 1 match")
    page.get_by_text("Taken for your reference.").wait_for()
    page.reload()
    page.get_by_text("Taken for your reference.").wait_for()
    page.set_viewport_size({"width": 360, "height": 700})
    assert axe_faults_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})


def test_an_id_leads_to_the_page_of_its_match_with_every_step(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    for given in (played["seatId"], played["matchId"]):
        _search(viewer, given)
        page.wait_for_url(f"**/portal/test/matches/{played['matchId']}")
        page.get_by_role("heading", level=1, name="kit-204 won against cart-5512").wait_for()
    page.get_by_text("No move was played").wait_for()
    page.get_by_text("your reference cart-5512").wait_for()
    page.get_by_text("A nudge was delivered to your server").first.wait_for()
    assert axe_faults_in_both_schemes(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert axe_faults_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})


def test_the_other_environment_is_named_and_never_mixed_in(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    _search(viewer, "kit-204", "live")
    page.get_by_text("Nothing by that name in live, but there is in test.").wait_for()
    assert page.locator("main table").count() == 0
    page.get_by_role("link", name="1 match").click()
    page.wait_for_url("**/portal/test/find?q=kit-204")
    viewer.open(f"/portal/live/matches/{played['matchId']}")
    page.get_by_role("link", name="Show it in test").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    _search(viewer, "nobody-at-all")
    page.get_by_text("neither in test nor in live").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.open("/portal/live/find")
    page.get_by_role("heading", name="What happened to my money?").wait_for()
    assert axe_faults_in_both_schemes(page) == []


def test_older_matches_follow_when_asked_for(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    listed = page.get_by_role("region", name="Latest matches").locator("tbody tr")
    (match, *_) = viewer.call("GET", "matches?environment=test")["matches"]
    many = [match | {"matchId": f"mat_{number}"} for number in range(45)]

    def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        first, limit = int(query.get("cursor", ["0"])[0]), int(query["limit"][0])
        more = first + limit < len(many)
        cursor = str(first + limit) if more else None
        told = {"matches": many[first : first + limit], "nextCursor": cursor, "hasMore": more}
        route.fulfill(json=told)

    page.route("**/partner/admin/matches?*", answer)
    viewer.open("/portal/test/find")
    expect(listed).to_have_count(20)
    viewer.press("Show 20 more")
    expect(listed).to_have_count(40)
    viewer.press("Show 20 more")
    expect(listed).to_have_count(45)
    expect(page.get_by_role("button", name="Show 20 more")).to_have_count(0)
    page.unroute_all()
