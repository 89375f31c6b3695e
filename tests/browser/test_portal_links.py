"""From one object of the portal to the next: matches, players, attempts, invoices, origins."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.portal_answers import answer_figures
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def admin(admin: Visitor) -> Visitor:
    """The demo's admin, whose window for codes is open."""
    admin.give_code()
    return admin


def test_the_latest_matches_are_listed_before_anything_is_looked_for(
    admin: Visitor,
) -> None:
    match, *_ = admin.call("GET", "matches?environment=test")["matches"]
    admin.go("test/find", "Find a match")
    listed = admin.page.get_by_role("region", name="Latest matches")
    listed.get_by_role("link", name=re.compile("^mat_")).first.click()
    admin.page.wait_for_url(f"**/matches/{match['matchId']}")
    admin.go("live/find", "Find a match")
    admin.page.get_by_text("What happened to my money?").wait_for()


def test_the_page_of_a_match_has_links_to_the_attempt_and_to_the_player(
    admin: Visitor,
) -> None:
    match, *_ = admin.call("GET", "matches?environment=test")["matches"]
    path = f"test/matches/{match['matchId']}"
    admin.open(f"/portal/{path}")
    page = admin.page
    page.get_by_role("link", name="What was sent and answered").first.click()
    admin.stands_at("Webhooks")
    expect(page.get_by_role("region", name="Request")).to_contain_text("results.available")
    admin.open(f"/portal/{path}")
    details = page.locator("section", has=page.get_by_role("heading", name="Details"))
    expect(details).to_contain_text(re.compile(r"Started.*\d\d:\d\d:\d\d UTC"))
    player = match["seats"][0]["playerId"]
    page.get_by_role("link", name=player, exact=True).click()
    page.get_by_text(re.compile(rf"{re.escape(player)} has \d+ match(es)? in test")).wait_for()


def test_a_wrong_origin_is_refused_at_its_field(admin: Visitor) -> None:
    admin.go("live/origins", "Origins")
    field = admin.page.get_by_label("Origin of a page")
    field.fill("http://shop.example")
    admin.press("Add live origin")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(admin.page.get_by_role("alert")).to_have_count(1)
    expect(field).to_have_value("http://shop.example")


def test_an_invoice_has_an_id_to_copy_and_prints_without_buttons(admin: Visitor) -> None:
    answer_figures(admin.page)
    admin.go("test/invoice/inv_7", "Invoice 7")
    copy = admin.page.get_by_role("button", name="Copy the id of the invoice")
    expect(copy).to_be_visible()
    expect(
        admin.page.get_by_role("row", name=re.compile("30 Oct Connect Four, silver 2"))
    ).to_be_visible()
    admin.page.emulate_media(media="print")
    for button in admin.page.get_by_role("button").all():
        expect(button).to_be_hidden()
    admin.page.emulate_media(media="screen")


def test_the_rake_terms_are_printed_without_buttons_and_at_one_edge(admin: Visitor) -> None:
    admin.go("terms", "Rake terms")
    admin.page.emulate_media(media="print")
    for button in admin.page.get_by_role("button").all():
        expect(button).to_be_hidden()
    headings = (admin.page.get_by_role("heading", level=level).first for level in (1, 2, 3))
    boxes = [heading.bounding_box() for heading in headings]
    assert len({box["x"] for box in boxes if box is not None}) == 1
    admin.page.emulate_media(media="screen")


def test_the_address_of_a_webhook_is_shown_once_to_those_who_may_change_it(
    admin: Visitor,
) -> None:
    admin.go("test/webhooks", "Webhooks")
    field = admin.page.get_by_label("Address, with https")
    address = field.input_value()
    assert address.startswith("https://")
    expect(admin.page.locator("main").get_by_text(address, exact=True)).to_have_count(0)


def test_the_search_for_a_match_fits_a_phone(admin: Visitor) -> None:
    admin.page.set_viewport_size({"width": 390, "height": 844})
    admin.go("test/find", "Find a match")
    for part in (admin.page.get_by_role("searchbox"), admin.page.get_by_text("Find", exact=True)):
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    admin.page.set_viewport_size({"width": 1280, "height": 800})
