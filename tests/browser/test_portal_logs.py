"""The portal's logs: an entry opens in place, its address names it, and it leads to its object."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.portal_answers import NEWEST_AT, answer_figures, answer_logs
from tests.browser.visitor import Visitor
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.browser

_MANY: Final = 700
"""Entries of a log, more than one answer has."""


@pytest.fixture
def admin(browser: Browser, demo: dict[str, str]) -> Iterator[Visitor]:
    """The demo's admin."""
    visitor = Visitor(browser, demo)
    visitor.enter()
    yield visitor
    visitor.close()


def test_a_change_opens_with_all_that_is_recorded_and_leads_to_its_key(
    admin: Visitor,
) -> None:
    (key,) = [key for key in admin.call("GET", "keys")["keys"] if key["environment"] == "test"]
    admin.go(f"events?q={key['keyId']}", "Event log")
    entry = admin.page.locator("tr[data-row]").first
    entry.get_by_role("button", name=re.compile("^Open")).click()
    detail = admin.page.get_by_role("region", name="Detail")
    expect(detail).to_contain_text(f'"keyId": "{key["keyId"]}"')
    expect(admin.page.get_by_text(re.compile(r"\d\d:\d\d:\d\d UTC, "))).to_be_visible()
    assert re.search(r"open=evt_\w+", admin.page.url)
    admin.page.reload()
    admin.stands_at("Event log")
    expect(detail).to_be_visible()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.get_by_role("link", name="API keys, test").click()
    admin.stands_at("API keys")
    expect(admin.page.locator("tr[data-row].on")).to_have_attribute("data-row", key["keyId"])


def _invites(page: Page, count: int) -> tuple[str, str]:
    """Answer with invites of two addresses, a short and a long one in turn; return these."""
    addresses = ("a@demo.example", "a-person-with-a-long-name.of-a-long-family@branch.demo.example")
    entries = [
        {
            "eventId": f"evt_{number}",
            "at": 1_790_000_000 - number,
            "actor": "platform",
            "action": "invite.created",
            "detail": {"email": addresses[number % 2], "role": "developer"},
        }
        for number in range(count)
    ]

    def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        begin = int(query.get("cursor", ["0"])[0])
        end = begin + int(query["limit"][0])
        more = str(end) if end < count else None
        route.fulfill(json={"events": entries[begin:end], "nextCursor": more})

    page.route("**/partner/admin/events?*", answer)
    return addresses


def test_a_phone_shows_all_of_what_was_done_in_rows_as_high_as_that_needs(admin: Visitor) -> None:
    page = admin.page
    short, long = _invites(page, 200)
    page.set_viewport_size({"width": 360, "height": 700})
    admin.go("events", "Event log")
    page.locator("tr[data-row]", has_text=long).first.wait_for()
    cut = """cells => cells.filter(cell => cell.scrollHeight > cell.clientHeight + 1
      || cell.getBoundingClientRect().bottom > cell.parentElement.getBoundingClientRect().bottom)
      .map(cell => cell.textContent)"""
    assert page.locator("tr[data-row] > .fills").evaluate_all(cut) == []
    high = "(rows, address) => rows.find(row => row.textContent.includes(address)).offsetHeight"
    rows = page.locator("tr[data-row]")
    assert rows.evaluate_all(high, short) < rows.evaluate_all(high, long)
    assert axe_faults_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})
    assert rows.evaluate_all(high, short) == rows.evaluate_all(high, long)
    page.unroute_all()


_COVERED = """async () => {
  const settle = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const bare = [];
  const look = async (by) => {
    scrollBy(0, by);
    await settle();
    await settle();
    const rows = [...document.querySelectorAll('tr[data-row]')];
    const first = rows[0].getBoundingClientRect().top;
    const last = rows.at(-1).getBoundingClientRect().bottom;
    const numbers = rows.map(row => Number(row.ariaRowIndex ?? row.getAttribute('aria-rowindex')));
    const inTurn = numbers.every((number, at) => at === 0 || number === numbers[at - 1] + 1);
    if (first > 0 || last < innerHeight || !inTurn) bare.push([scrollY, first, last, inTurn]);
  };
  scrollTo(0, 1000);
  await settle();
  for (let step = 0; step < 30; step += 1) await look(431);
  await look(document.documentElement.scrollHeight / 2);
  for (let step = 0; step < 30; step += 1) await look(-431);
  return bare;
}"""


def test_ten_thousand_rows_of_two_heights_scroll_on_a_phone(admin: Visitor) -> None:
    page = admin.page
    _invites(page, 10_000)
    page.set_viewport_size({"width": 360, "height": 700})
    admin.go("events?kind=invite", "Event log")
    page.get_by_text("10,000 of the newest 10,000.").wait_for()
    assert page.evaluate(_COVERED) == []
    assert page.locator("tr[data-row]").count() < 100
    admin.go("events?open=evt_7001", "Event log")
    expect(page.locator('tr[data-row="evt_7001"]')).to_be_in_viewport()
    deadline = time.monotonic() + PATIENCE_S
    while not page.locator('tr[data-row="evt_9999"]').is_visible():
        assert time.monotonic() < deadline, "End does not lead to the last row"
        page.keyboard.press("End")  # leads to the end of the rows that have been read so far
        page.wait_for_timeout(100)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.unroute_all()


def test_a_change_of_which_nothing_more_is_recorded_says_so(admin: Visitor) -> None:
    event = {"eventId": "evt_1", "at": NEWEST_AT, "actor": "platform", "detail": {}}
    event["action"] = "account.reactivated"
    told = {"events": [event], "nextCursor": None, "hasMore": False}
    admin.page.route("**/partner/admin/events?*", lambda route: route.fulfill(json=told))
    admin.go("events?open=evt_1", "Event log")
    admin.page.get_by_text("Nothing more is recorded of this change.").wait_for()
    expect(admin.page.get_by_role("region", name="Detail")).to_have_count(0)
    expect(admin.page.get_by_role("button", name="Copy the detail")).to_have_count(0)
    assert axe_faults_in_both_schemes(admin.page) == []


def test_an_address_leads_to_an_entry_far_down_the_log(admin: Visitor) -> None:
    answer_logs(admin.page, _MANY)
    for path, title, name in (
        ("events?open=evt_650", "Event log", "evt_650"),
        ("test/webhooks?open=att_650", "Webhooks", "att_650"),
    ):
        admin.go(path, title)
        expect(admin.page.locator(f'tr[data-row="{name}"]')).to_be_in_viewport()


def test_changes_are_shown_from_a_day_to_a_day(admin: Visitor) -> None:
    answer_logs(admin.page, 40)
    admin.go("events?from=20261123", "Event log")
    admin.page.get_by_text("Nothing matches these filters").wait_for()
    expect(admin.page.get_by_label("From", exact=True)).to_have_value("2026-11-23")
    admin.page.get_by_label("From", exact=True).fill("2026-11-22")
    expect(admin.page.locator("tr[data-row]").first).to_be_visible()
    assert "from=20261122" in admin.page.url
    admin.page.get_by_label("To", exact=True).fill("2026-11-21")
    admin.press("Clear the filters")
    expect(admin.page.get_by_label("To", exact=True)).to_have_value("")


def test_a_time_is_told_to_the_second_in_utc_and_in_the_zone_of_the_reader(
    browser: Browser, demo: dict[str, str]
) -> None:
    visitor = Visitor(browser, demo, timezone_id="Asia/Kolkata", locale="en-GB")
    visitor.enter()
    visitor.go("test/webhooks", "Webhooks")
    shown = visitor.page.locator(".answer time")
    title = shown.get_attribute("title") or ""
    assert re.search(r"\d\d:\d\d:\d\d UTC, .*(GMT\+5:30|IST)", title), title
    expect(shown).to_have_text(re.compile("ago$|^just now$"))
    visitor.close()


def test_the_bar_of_a_day_lists_the_attempts_of_that_day(admin: Visitor) -> None:
    admin.go("test/webhooks", "Webhooks")
    rows = admin.page.locator("tr[data-row]")
    rows.first.wait_for()
    sent = rows.count()
    chart = admin.page.get_by_role("slider", name=re.compile("^Attempts a day"))
    day = datetime.now(UTC)
    expect(chart).to_have_attribute("aria-valuetext", re.compile(f"{sent} attempts, 0 of them"))
    chart.focus()
    admin.page.keyboard.press("ArrowLeft")
    admin.page.get_by_text("Nothing matches these filters").wait_for()
    admin.page.keyboard.press("End")
    expect(rows).to_have_count(sent)
    assert f"from={day:%Y%m%d}&to={day:%Y%m%d}" in admin.page.url


def test_an_attempt_shows_its_ids_and_its_time_and_copies_them(admin: Visitor) -> None:
    admin.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer_logs(admin.page, 20)
    admin.go("test/webhooks?open=att_3", "Webhooks")
    admin.press("Copy the id of the nudge")
    assert admin.page.evaluate("navigator.clipboard.readText()") == "ndg_3"
    admin.press("Copy as curl")
    assert "curl -i" in admin.page.evaluate("navigator.clipboard.readText()")
    expect(admin.page.get_by_text("22 Nov 2026, 02:14:03 UTC")).to_be_visible()


def test_a_bar_under_the_pointer_is_read_out_and_the_totals_follow_the_measure(
    admin: Visitor,
) -> None:
    answer_figures(admin.page)
    admin.go("test/usage", "Usage")
    admin.page.get_by_text("2,382 matches", exact=True).wait_for()
    bar = admin.page.locator("svg.chart g", has_text="12 Nov")
    bar.hover()
    admin.page.get_by_text("Thursday 12 November: 149 matches").wait_for()
    assert "pick=" not in admin.page.url
    admin.page.get_by_role("heading", name="Usage").hover()
    admin.page.get_by_text("Friday 20 November: 193 matches").wait_for()
    admin.press("Rake")
    admin.page.get_by_text("$2,382.00 of rake", exact=True).wait_for()


def test_home_shows_the_matches_of_the_last_final_days_if_there_are_any(admin: Visitor) -> None:
    admin.go("live", "Home")
    admin.page.locator('[data-step="play"]').wait_for()
    chart = admin.page.get_by_role("slider", name=re.compile("^Matches a day"))
    expect(chart).to_have_count(0)
    answer_figures(admin.page)
    admin.go("test", "Home")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("^Friday 20 November: 193 match"))
    chart.focus()
    admin.page.keyboard.press("ArrowLeft")
    admin.page.get_by_text("Thursday 19 November: 226 matches, the most of these days").wait_for()
    admin.page.locator("svg.chart g", has_text="12 Nov").hover()
    admin.page.get_by_text("Thursday 12 November: 149 matches").wait_for()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.set_viewport_size({"width": 360, "height": 700})
    assert admin.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_key_names_who_made_it_and_leads_to_its_changes(admin: Visitor) -> None:
    admin.give_code()
    made = admin.call("POST", "keys", {"environment": "test", "label": "shop"})
    admin.go("test/keys", "API keys")
    expect(admin.row("shop")).to_contain_text("by admin@demo.example")
    expect(admin.page.locator("tr[data-row]", has_text="by the platform")).to_have_count(1)
    admin.row("shop").get_by_role("link").click()
    admin.stands_at("Event log")
    assert f"q={made['keyId']}" in admin.page.url
    expect(admin.page.locator("tr[data-row]")).to_have_count(1)


@pytest.mark.parametrize("by", ["press", "itself"])
def test_a_log_that_could_not_be_read_is_read_again(admin: Visitor, by: str) -> None:
    page = admin.page
    page.clock.install()
    away = {"error": "The service is away.", "reason": "unavailable"}
    listed = "**/partner/admin/events?limit=500*"
    page.route(listed, lambda route: route.fulfill(status=503, json=away))
    admin.open("/portal/events")
    page.get_by_text("It is tried again every 10 seconds.").wait_for()
    expect(page.locator("tr[data-row]")).to_have_count(0)
    page.unroute(listed)
    if by == "press":
        admin.press("Try now")
    else:
        page.clock.fast_forward(11_000)
    page.locator("tr[data-row]").first.wait_for()
    expect(page.get_by_role("alert")).to_have_count(0)
