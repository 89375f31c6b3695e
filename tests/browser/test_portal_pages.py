"""The portal's pages of settings, figures and logs, in a browser."""

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.portal_answers import DAYS, LATEST, answer_figures, answer_logs
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_LONG = 10_000
_PAGES = (
    ("test/prices", "Prices"),
    ("test/theme", "Theme"),
    ("test/usage", "Usage"),
    ("test/usage?by=tier", "Usage"),
    ("test/invoices", "Invoices"),
    ("test/invoice/inv_7?open=lin_20261031", "Invoice 7"),
    ("events", "Event log"),
    ("test/webhooks?open=att_3", "Webhooks"),
    ("test/keys", "API keys"),
    ("live/games", "Games"),
)


@pytest.fixture(scope="module")
def admin(admin: Visitor) -> Visitor:
    """The demo's admin, whose windows are open. One for all tests: each code works once."""
    admin.give_code()
    return admin


def _price(visitor: Visitor, tier: str) -> Locator:
    return visitor.page.get_by_label(f"Price of {tier}", exact=True)


def test_a_price_is_typed_in_dollars_checked_and_sent_in_cents(admin: Visitor) -> None:
    admin.go("test/prices", "Prices")
    silver = _price(admin, "Silver")
    silver.fill("0.50")
    silver.blur()
    admin.page.get_by_text("Below the floor. At least 5.00.").wait_for()
    admin.press("Save test prices")
    expect(silver).to_be_focused()
    admin.press("Use 5.00 for Silver")
    expect(silver).to_have_value("5.00")
    silver.fill("6.5")
    admin.press("Save test prices")
    admin.told("The test prices are saved.")
    assert admin.call("GET", "prices/test") == {"prices": {"test-silver": 650}}
    admin.page.locator(".answer", has_text="1 of 2 tiers").wait_for()


def test_a_price_that_somebody_else_has_set_meanwhile_stays(admin: Visitor) -> None:
    admin.call("PUT", "prices/test", {"prices": {"test-silver": 600}})
    admin.go("test/prices", "Prices")
    _price(admin, "Silver").fill("7.00")
    admin.call("PUT", "prices/test", {"prices": {"test-silver": 600, "test-bronze": 120}})
    admin.press("Save test prices")
    admin.told("The test prices are saved. A change by somebody else was kept too.")
    stored = {"prices": {"test-silver": 700, "test-bronze": 120}}
    assert admin.call("GET", "prices/test") == stored
    # Now both are about the same tier: both versions are shown, and nothing is overwritten.
    _price(admin, "Silver").fill("8.00")
    admin.call("PUT", "prices/test", {"prices": {"test-silver": 550}})
    admin.press("Save test prices")
    row = admin.dialog.locator("tr", has_text="Silver")
    expect(row).to_contain_text("$5.50")
    expect(row).to_contain_text("$8.00")
    assert admin.call("GET", "prices/test") == {"prices": {"test-silver": 550}}
    admin.page.keyboard.press("Escape")
    admin.dialog.wait_for(state="hidden")
    expect(_price(admin, "Silver")).to_have_value("8.00")
    admin.press("Undo")


def test_a_text_colour_that_cannot_be_read_is_replaced_and_the_real_frame_shows_the_new_one(
    admin: Visitor,
) -> None:
    admin.go("test/theme", "Theme")
    frame = admin.page.frame_locator("iframe.preview")
    frame.locator(".board").first.wait_for()
    admin.page.get_by_label("Background", exact=True).fill("#FBF7EF")
    admin.page.get_by_label("Text", exact=True).fill("#A58F76")
    admin.page.get_by_label("Name on the frame").fill("Acme Arena")
    admin.page.locator(".answer", has_text="cannot be read by everybody: 2.8 : 1").wait_for()
    admin.press("Save test theme")
    expect(admin.page.get_by_label("Text", exact=True)).to_be_focused()
    admin.page.get_by_role("button", name=re.compile("^Use #")).click()
    mended = admin.page.get_by_label("Text", exact=True).input_value()
    admin.page.locator(".answer", has_text="This is what players see in test.").wait_for()
    frame.get_by_text("Acme Arena").first.wait_for()
    root = admin.page.frames[-1]
    assert root.evaluate("document.documentElement.style.getPropertyValue('--text')") == mended
    admin.press("Won")
    frame.locator(".page.ended").wait_for()
    admin.press("Save test theme")
    admin.told("The theme is saved.")
    stored = admin.call("GET", "theme/test")
    names = ("displayName", "backgroundColor", "textColor", "logo")
    assert [stored[name] for name in names] == ["Acme Arena", "#FBF7EF", mended, None]
    admin.press("Take this theme to live")
    admin.page.wait_for_url("**/portal/live/theme")
    expect(admin.page.get_by_label("Name on the frame")).to_have_value("Acme Arena")
    assert admin.call("GET", "theme/live")["revision"] == 0
    admin.press("Undo")


_HEADLINE: Final = "getComputedStyle(document.querySelector('.headline')).color"


def test_the_preview_of_a_theme_has_the_same_colours_whatever_the_system_prefers(
    admin: Visitor,
) -> None:
    admin.go("test/theme", "Theme")
    admin.page.get_by_label("Background", exact=True).fill("#FFFFFF")
    admin.page.frame_locator("iframe.preview").get_by_text("Your turn").wait_for()
    preview = admin.page.frames[-1]
    seen = []
    for scheme in ("light", "dark"):
        admin.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        preview.wait_for_function(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
        seen.append(preview.evaluate(_HEADLINE))
    admin.page.emulate_media(color_scheme="light")
    assert seen[0] == seen[1]


def test_a_bar_is_picked_by_keyboard_and_its_address_keeps_it(admin: Visitor) -> None:
    answer_figures(admin.page)
    admin.go("test/usage", "Usage")
    admin.page.locator(".answer", has_text="2,382 matches and ").wait_for()
    admin.page.locator(".totals", has_text="2,382 matches in 14 days, 19 % more").wait_for()
    chart = admin.page.get_by_role("slider")
    expect(chart).to_have_attribute("aria-valuenow", "14")
    chart.focus()
    for _ in range(2):
        admin.page.keyboard.press("ArrowLeft")
    said = "Wednesday 18 November: 203 matches"
    expect(chart).to_have_attribute("aria-valuetext", re.compile(said))
    admin.page.get_by_text(said).wait_for()
    assert admin.page.url.endswith("?pick=20261118")
    admin.press("Rake")
    admin.page.get_by_text("$203.00 of rake").wait_for()
    admin.page.reload()
    admin.stands_at("Usage")
    admin.page.get_by_text("$203.00 of rake").wait_for()
    expect(admin.page.locator("tbody tr")).to_have_count(len(DAYS))
    admin.go(f"test/usage?from={DAYS[0]}&to=20261122", "Usage")
    admin.page.get_by_text("22 Nov is not final.").wait_for()
    admin.press("Show up to 20 Nov")
    admin.page.get_by_role("slider").wait_for()
    assert f"to={LATEST}" in admin.page.url
    admin.press("By tier (seats)")
    admin.page.get_by_text("40 seats were paid.").wait_for()


def test_an_invoice_opens_its_lines_in_place_and_is_kept_as_a_file(admin: Visitor) -> None:
    answer_figures(admin.page)
    admin.go("live/invoices", "Invoices")
    admin.page.locator(".answer", has_text="One is open: $1,902.40, due on").wait_for()
    admin.go("test/invoices", "Invoices")
    admin.page.locator(".answer", has_text="One is open: $1,902.40, for practice.").wait_for()
    admin.press("Paid")
    expect(admin.page.locator("tbody tr")).to_have_count(1)
    admin.page.go_back()
    admin.go("test/invoices", "Invoices")
    month = admin.page.locator(".card", has_text="This month so far")
    either = re.compile(r"2,382 matches, \$2,382.00 of rake|No day of \w+ \d+ is final")
    month.get_by_text(either).wait_for()  # by the day on which the test runs
    usage = month.get_by_role("link", name="Usage")
    expect(usage).to_have_attribute("href", re.compile("^/portal/test/usage.from=2026"))
    admin.page.get_by_role("link", name="7", exact=True).click()
    admin.stands_at("Invoice 7")
    admin.press("Matches connect-four, silver, 20261031")
    admin.page.get_by_role("link", name="mat_2").wait_for()
    assert "open=lin_20261031" in admin.page.url
    with admin.page.expect_download() as kept:
        admin.press("CSV")
    text = kept.value.path().read_text("utf-8-sig")
    assert text.splitlines()[1].startswith("20261030,connect-four,silver,")
    assert text.splitlines()[1].endswith(",2,951.2,lin_20261030")
    admin.page.emulate_media(media="print")
    for hidden in (".side", ".top", ".head .acts"):
        expect(admin.page.locator(hidden).first).to_be_hidden()
    expect(admin.page.get_by_role("row", name=re.compile("^Total"))).to_be_visible()
    admin.page.emulate_media(media="screen")


def test_ten_thousand_entries_scroll_and_are_searched(admin: Visitor) -> None:
    answer_logs(admin.page, _LONG)
    admin.go("events?kind=key", "Event log")
    table = admin.page.get_by_role("table")
    expect(table).to_have_attribute("aria-rowcount", "3335")
    admin.page.get_by_label("Kind").select_option("")
    admin.page.get_by_label("Search", exact=True).fill("shop")
    expect(table).to_have_attribute("aria-rowcount", str(_LONG + 1))
    assert admin.page.locator("tr[data-row]").count() < 100
    admin.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last = admin.page.locator(f'tr[aria-rowindex="{_LONG + 1}"]')
    expect(last).to_be_in_viewport()
    assert admin.page.locator("tr[data-row]").count() < 100
    admin.page.get_by_label("Search", exact=True).fill("shop 9999")
    expect(admin.page.locator("tr[data-row]")).to_have_count(1)
    admin.page.reload()
    admin.stands_at("Event log")
    expect(admin.page.locator("tr[data-row]")).to_have_count(1)
    assert "q=shop+9999" in admin.page.url


def test_an_attempt_opens_in_place_at_its_address(admin: Visitor) -> None:
    answer_logs(admin.page, _LONG)
    admin.go("test/webhooks?open=att_3", "Webhooks")
    page = admin.page
    request = page.get_by_role("region", name="Request")
    expect(request).to_contain_text('{"type":"results.available","partnerId":"demo","at":')
    expect(page.get_by_role("region", name="Answer")).to_contain_text("500 in 90 ms")
    admin.press("Close ndg_3")
    request.wait_for(state="detached")
    page.get_by_role("button", name=re.compile("^Failed")).click()
    page.get_by_text("3,333 attempts").wait_for()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator('tr[data-row="att_9999"]')).to_be_in_viewport()
    admin.press("Open ndg_9999")
    request.wait_for()
    assert "outcome=failed&open=att_9999" in page.url
    assert page.locator("tr[data-row]").count() < 100


def test_axe_finds_nothing_on_these_pages_and_none_scrolls_sideways(admin: Visitor) -> None:
    answer_figures(admin.page)
    answer_logs(admin.page, 20)
    admin.tab.errors.clear()
    admin.page.set_viewport_size({"width": 360, "height": 700})
    for path, title in _PAGES:
        admin.go(path, title)
        assert axe_faults_in_both_schemes(admin.page) == [], path
        # The first question about usage is refused with the latest final day of these answers.
        assert [error for error in admin.tab.errors if "400" not in error] == [], path
        assert admin.page.evaluate("document.documentElement.scrollWidth") <= 360, path
    admin.page.set_viewport_size({"width": 1280, "height": 800})
    admin.go("test/webhooks?open=att_3", "Webhooks")
    assert axe_faults_in_both_schemes(admin.page) == []
    assert admin.tab.origins <= {admin.demo["baseUrl"], admin.demo["issuer"]}
