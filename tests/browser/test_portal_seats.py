"""Seats that wait for an opponent in the portal: the list, the search and the page of one."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_key, seat
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_LATER_MS: Final = 11_000
"""Milliseconds after which a page that follows by itself has been due to read again."""


@pytest.fixture(scope="module")
def waiting(demo: dict[str, str]) -> Any:
    """A seat that waits in test."""
    return seat(demo, "wait-301", "w1", partnerRef="cart-301")


def test_a_waiting_seat_is_found_by_its_player_reference_key_and_id(
    viewer: Visitor, waiting: Any
) -> None:
    page = viewer.page
    for text in ("wait-301", "cart-301", "w1"):
        viewer.open(f"/portal/test/find?q={text}")
        page.get_by_text(f"{text} has 1 waiting seat in test").wait_for()
        row = page.get_by_role("region", name="Waiting seats").locator("tbody tr")
        expect(row).to_contain_text("$1.00 held")
    assert axe_faults_in_both_schemes(page) == []
    viewer.open("/portal/live/find?q=wait-301")
    page.get_by_role("link", name="1 waiting seat").click()
    page.wait_for_url("**/portal/test/find?q=wait-301")
    viewer.open(f"/portal/test/find?q={waiting['seatId']}")
    page.wait_for_url(f"**/portal/test/seats/{waiting['seatId']}")
    viewer.stands_at("wait-301 waits for an opponent")


def test_the_page_of_a_waiting_seat_says_what_is_held_and_until_when(
    viewer: Visitor, demo: dict[str, str], waiting: Any
) -> None:
    page = viewer.page
    viewer.open(f"/portal/test/seats/{waiting['seatId']}")
    viewer.stands_at("wait-301 waits for an opponent")
    page.get_by_text("$1.00 is held until an opponent comes, or until").wait_for()
    for text in ("cart-301", "You paid $1.00 and have been waiting for an opponent since"):
        page.get_by_text(text).first.wait_for()
    expect(page.get_by_role("region", name="Call that takes the seat back")).to_contain_text(
        f"/partner/seats/{waiting['seatId']}/cancel"
    )
    assert axe_faults_in_both_schemes(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})
    viewer.open("/portal/test/seats/sea_nothing")
    viewer.stands_at("No such seat")


def test_the_times_and_the_reference_of_a_waiting_seat_stay_whole_beside_a_long_name(
    viewer: Visitor, demo: dict[str, str]
) -> None:
    page = viewer.page
    player = "a-player-whose-name-takes-all-of-the-room"
    taken = seat(demo, player, "w9", gameId="reversi", partnerRef="order-2026-11-28-00301")
    page.set_viewport_size({"width": 1440, "height": 900})
    viewer.open("/portal/test/seats")
    viewer.stands_at("Waiting seats")
    row = page.locator("tbody tr", has_text=player)
    row.wait_for()
    row.locator("time").first.evaluate("(shown) => { shown.textContent = '59 minutes ago'; }")
    broken = row.locator("td", has_text=re.compile("ago|order|:")).evaluate_all(
        """(cells) => cells.filter((cell) => {
          const text = document.createRange();
          text.selectNodeContents(cell);
          return text.getBoundingClientRect().height > 32;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []
    page.set_viewport_size({"width": 1280, "height": 800})
    by_key(demo, "POST", f"/partner/seats/{taken['seatId']}/cancel")


def test_the_list_of_waiting_seats_leads_to_the_match_once_a_seat_is_taken_back(
    viewer: Visitor, demo: dict[str, str], waiting: Any
) -> None:
    page = viewer.page
    other = seat(demo, "wait-302", "w2", gameId="connect-four")
    viewer.open("/portal/test")
    page.get_by_role("link", name="Seats waiting").click()
    viewer.stands_at("Waiting seats")
    row = page.locator("tbody tr", has_text="wait-302")
    row.wait_for()
    assert axe_faults_in_both_schemes(page) == []
    taken_back = by_key(demo, "POST", f"/partner/seats/{other['seatId']}/cancel")
    assert taken_back["_status"] == 200
    row.get_by_role("link").click()
    page.wait_for_url(f"**/portal/test/matches/{taken_back['matchId']}")
    viewer.open("/portal/test/seats")
    page.locator("tbody tr", has_text="wait-301").wait_for()
    expect(row).to_have_count(0)


def test_waiting_seats_follow_by_themselves_while_the_page_is_seen(
    viewer: Visitor, demo: dict[str, str], waiting: Any
) -> None:
    page = viewer.page
    page.clock.install()
    viewer.go("test/seats", "Waiting seats")
    rows = page.locator("tbody tr")
    expect(rows).to_contain_text(["wait-301"])
    seat(demo, "wait-303", "w3", gameId="reversi")
    page.clock.fast_forward(_LATER_MS)
    expect(rows).to_contain_text(["wait-301", "wait-303"])
    reads: list[str] = []
    page.on("request", lambda request: reads.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    for _ in range(3):
        page.clock.fast_forward(_LATER_MS)
    page.evaluate("delete document.hidden")
    with page.expect_response("**/partner/admin/seats?*"):
        page.clock.fast_forward(_LATER_MS)
    assert len([url for url in reads if "/admin/seats?" in url]) == 1
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)


def test_the_page_of_a_seat_becomes_that_of_its_match_by_itself(
    viewer: Visitor, demo: dict[str, str]
) -> None:
    page = viewer.page
    page.clock.install()
    first = seat(demo, "wait-304", "w4", gameId="connect-four")
    viewer.go(f"test/seats/{first['seatId']}", "wait-304 waits for an opponent")
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)
    paired = seat(demo, "wait-305", "w5", gameId="connect-four")
    page.clock.fast_forward(_LATER_MS)
    page.wait_for_url(f"**/portal/test/matches/{paired['matchId']}")


def test_a_list_of_seats_that_was_read_further_stays_as_long(viewer: Visitor, waiting: Any) -> None:
    page = viewer.page
    page.clock.install()
    reads: list[str] = []

    def answer(route: Route) -> None:
        reads.append(route.request.url)
        begin = 500 if "cursor=" in route.request.url else 0
        seats = [
            waiting | {"seatId": f"sea_{number}", "playerId": f"p-{number}-{len(reads)}"}
            for number in range(begin, begin + (100 if begin else 500))
        ]
        route.fulfill(json={"seats": seats, "nextCursor": None if begin else "500"})

    page.route("**/partner/admin/seats?*", answer)
    viewer.go("test/seats", "Waiting seats")
    viewer.press("Show more")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(600)
    page.clock.fast_forward(_LATER_MS)
    expect(rows.last).to_contain_text("p-599-4")
    expect(rows).to_have_count(600)
    page.unroute_all()
    assert len(reads) == 4
