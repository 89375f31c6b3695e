"""The portal's search for matches, and the page of a match, in a real browser."""

import csv
import re
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

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
        page.get_by_text(f"Found as {kind}.").wait_for()
    _search(viewer, "cart-5512")
    page.get_by_text("Found as a player.").wait_for()
    page.locator("tr", has_text="kit-204").get_by_text("lost").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.press("Look for it as your reference: 1 match")
    page.get_by_text("Found as your reference.").wait_for()
    page.reload()
    page.get_by_text("Found as your reference.").wait_for()
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


def test_matches_are_filtered_by_status_and_day_and_the_address_can_be_sent(
    viewer: Visitor, played: Any
) -> None:
    page = viewer.page
    listed = page.get_by_role("region", name="Latest matches").locator("tbody tr")
    ended = listed.filter(has_text="kit-204")
    viewer.go("test/find", "Find a match")
    ended.wait_for()
    viewer.press("No contest")
    page.get_by_role("heading", name="Nothing matches these filters").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.press("Clear the filters")
    ended.wait_for()
    assert page.url.endswith("/portal/test/find")
    today = datetime.now(UTC).date()
    for first, last, count in ((today, None, 1), (None, today, 1), (date(2024, 1, 1), None, 0)):
        for label, day in (("From", first), ("To", last)):
            page.get_by_label(label, exact=True).fill("" if day is None else day.isoformat())
        viewer.press("Decided")
        expect(ended).to_have_count(count)
        page.reload()  # the address alone has the filters
        viewer.stands_at("Find a match")
        expect(ended).to_have_count(count)
        expect(page.get_by_role("button", name="Decided")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("From", exact=True).fill("2024-01-02")
    page.get_by_label("To", exact=True).fill("2024-01-01")
    page.get_by_text("The first day is after the last one.").wait_for()
    page.get_by_label("To", exact=True).fill("2024-12-31")
    page.get_by_text("A range has at most 92 days.").wait_for()
    assert axe_faults_in_both_schemes(page) == []


def test_filters_go_with_a_search_and_leave_an_id_alone(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    viewer.go("test/find?q=kit-204&status=ended", "Find a match")
    page.get_by_text("kit-204 has 1 match in test").wait_for()
    viewer.press("Running")
    page.get_by_text("Nothing by that name in test matches these filters.").wait_for()
    viewer.press("Clear the filters")
    page.get_by_text("kit-204 has 1 match in test").wait_for()
    assert page.url.endswith("/portal/test/find?q=kit-204")
    viewer.open(f"/portal/test/find?q={played['seatId']}&status=started")
    page.wait_for_url(f"**/portal/test/matches/{played['matchId']}")


def test_a_filtered_search_reads_on_over_pages_without_a_match(
    viewer: Visitor, played: Any
) -> None:
    page = viewer.page
    (match, *_) = viewer.call("GET", "matches?environment=test")["matches"]

    def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        turn = int(query.get("cursor", ["0"])[0])
        more = "playerId" in query and turn < 3
        shown = [match] if "playerId" in query and turn == 2 else []
        cursor = str(turn + 1) if more else None
        route.fulfill(json={"matches": shown, "nextCursor": cursor, "hasMore": more})

    page.route("**/partner/admin/matches?*", answer)
    viewer.go("test/find?q=somebody&status=ended", "Find a match")
    page.get_by_text("somebody has 1 match in test").wait_for()
    page.unroute_all()


def test_players_and_times_stay_in_few_lines_on_a_tablet(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    page.set_viewport_size({"width": 768, "height": 900})
    viewer.go("test/find?q=kit-204", "Find a match")
    row = page.locator("main tbody tr", has_text="cart-5512")
    expect(page.get_by_role("columnheader", name="When, UTC")).to_be_visible()
    expect(row.locator("time")).to_have_text(re.compile(r"^\d{1,2} \w{3,4}, \d\d:\d\d$"))
    viewer.go("test/find", "Find a match")
    lines = """cell => Math.round(cell.firstElementChild.getBoundingClientRect().height
      / parseFloat(getComputedStyle(cell).lineHeight))"""
    row = page.locator("main tbody tr", has_text="kit-204 beat cart-5512")
    assert row.get_by_role("cell", name="kit-204 beat cart-5512").evaluate(lines) <= 2
    page.set_viewport_size({"width": 1280, "height": 800})


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


def _answer(page: Page, matches: list[Any], size: int | None = None) -> list[dict[str, list[str]]]:
    """Let a page list these matches, `size` at a time if given; return the queries it makes."""
    asked: list[dict[str, list[str]]] = []

    def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        asked.append(query)
        first = int(query.get("cursor", ["0"])[0])
        last = first + (size or int(query["limit"][0]))
        more = last < len(matches)
        shown = [match for match in matches[first:last] if match is not None]
        told = {"matches": shown, "nextCursor": str(last) if more else None, "hasMore": more}
        route.fulfill(json=told)

    page.route("**/partner/admin/matches?*", answer)
    return asked


def _kept(viewer: Visitor) -> tuple[str, list[list[str]]]:
    """Press CSV; return the file's name and its rows."""
    with viewer.page.expect_download() as kept:
        viewer.press("CSV")
    text = kept.value.path().read_text("utf-8-sig")
    return kept.value.suggested_filename, list(csv.reader(text.splitlines()))


def test_matches_are_filtered_by_game_and_tier_and_the_address_can_be_sent(
    viewer: Visitor, played: Any
) -> None:
    page = viewer.page
    listed = page.get_by_role("region", name="Latest matches").locator("tbody tr")
    ended = listed.filter(has_text="kit-204")
    viewer.go("test/find", "Find a match")
    ended.wait_for()
    page.get_by_label("Game", exact=True).select_option(label="Tic-tac-toe")
    page.get_by_label("Tier", exact=True).select_option(label="Bronze")
    page.wait_for_url("**/portal/test/find?game=tic-tac-toe&tier=test-bronze")
    ended.wait_for()
    page.reload()  # the address alone has the filters
    viewer.stands_at("Find a match")
    expect(page.get_by_label("Tier", exact=True)).to_have_value("test-bronze")
    ended.wait_for()
    page.get_by_label("Game", exact=True).select_option(label="Chess")
    page.get_by_role("heading", name="Nothing matches these filters").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.press("Clear the filters")
    ended.wait_for()
    assert page.url.endswith("/portal/test/find")
    viewer.go("test/find?tier=taken-away", "Find a match")
    expect(page.get_by_label("Tier", exact=True)).to_have_value("taken-away")
    viewer.go("test/find?q=kit-204&game=reversi", "Find a match")
    page.get_by_text("Nothing by that name in test matches these filters.").wait_for()


def test_a_list_of_a_rare_game_reads_on_over_empty_pages_and_then_asks(
    viewer: Visitor, played: Any
) -> None:
    page = viewer.page
    (match, *_) = viewer.call("GET", "matches?environment=test")["matches"]
    _answer(page, [None] * 13 + [match], 1)
    viewer.go("test/find?game=reversi", "Find a match")
    page.get_by_text("None of the newest matches is like that.").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    viewer.press("Look further back")
    page.get_by_role("region", name="Latest matches").locator("tbody tr").wait_for()
    page.unroute_all()


def test_the_matches_that_are_found_are_kept_as_csv(viewer: Visitor, played: Any) -> None:
    viewer.go("test/find?game=tic-tac-toe&status=ended", "Find a match")
    name, (heads, *rows) = _kept(viewer)
    assert name == "matches-test.csv"
    row = dict(zip(heads, next(row for row in rows if played["matchId"] in row), strict=True))
    assert row["game"] == "tic-tac-toe"
    assert row["tier"] == "test-bronze"
    assert (row["winner"], row["status"]) == ("kit-204", "ended")
    assert {row["player 1"], row["player 2"]} == {"kit-204", "cart-5512"}
    assert row["stake 1"] == "1"
    assert {row["partnerRef 1"], row["partnerRef 2"]} == {"cart-5512", "order-8790"}
    viewer.go("test/find?q=kit-204", "Find a match")
    _, (_, *found) = _kept(viewer)
    assert [row[0] for row in found] == [played["matchId"]]


def test_your_reference_is_a_column_where_there_is_room(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    page.set_viewport_size({"width": 1280, "height": 800})
    viewer.go("test/find", "Find a match")
    table = page.get_by_role("region", name="Latest matches")
    row = table.get_by_role("row", name=re.compile("cart-5512, order-8790"))
    expect(row.first).to_be_visible()
    assert table.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    viewer.go("test/find?q=kit-204", "Find a match")
    expect(page.get_by_role("cell", name="cart-5512", exact=True)).to_have_count(2)
    page.set_viewport_size({"width": 900, "height": 800})
    expect(page.get_by_role("columnheader", name="Your reference")).to_be_hidden()
    viewer.go("test/find", "Find a match")
    page.set_viewport_size({"width": 360, "height": 800})
    table.locator("tbody tr").first.wait_for()
    shown = table.locator('td[data-l="Your reference"]:visible').all_inner_texts()
    assert shown
    assert all(shown)  # a match without a reference has no empty line for it
    page.set_viewport_size({"width": 1280, "height": 800})
    assert axe_faults_in_both_schemes(page) == []


def test_the_csv_of_matches_has_a_bound_and_no_formula(viewer: Visitor, played: Any) -> None:
    page = viewer.page
    (match, *_) = viewer.call("GET", "matches?environment=test")["matches"]
    seats = [seat | {"playerId": "=HYPERLINK(1)"} for seat in match["seats"]]
    many = [match | {"matchId": f"mat_{number}", "seats": seats} for number in range(10_020)]
    asked = _answer(page, many)
    viewer.go("test/find?game=tic-tac-toe&from=20261101&to=20261130", "Find a match")
    page.get_by_text("at most 10,000").wait_for()
    asked.clear()
    _, (heads, *rows) = _kept(viewer)
    viewer.told("The file has the newest 10,000 matches. There may be more: choose fewer days.")
    assert len(rows) == 10_000
    assert rows[0][heads.index("player 1")] == "'=HYPERLINK(1)"
    assert len(asked) == 20
    filters = {"gameId": ["tic-tac-toe"], "from": ["20261101"], "to": ["20261130"]}
    assert all(query.items() >= filters.items() for query in asked)
    page.unroute_all()


def test_a_list_of_matches_fits_a_tablet_and_its_search_one_line_of_a_phone(
    viewer: Visitor, played: Any
) -> None:
    page = viewer.page
    viewer.go("test/find?tier=test-bronze", "Find a match")
    page.set_viewport_size({"width": 768, "height": 900})
    listed = page.get_by_role("region", name="Latest matches")
    listed.locator("tbody tr").first.wait_for()
    assert listed.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0
    page.set_viewport_size({"width": 360, "height": 700})
    box, press = (page.locator(f".seek {part}").bounding_box() for part in ("input", "button"))
    assert box is not None
    assert press is not None
    assert box["y"] == press["y"]
    page.set_viewport_size({"width": 1280, "height": 800})
