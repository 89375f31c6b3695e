"""Where the portal's addresses lead, where the focus stays, and what Home says when all is done."""

import pytest
from playwright.sync_api import Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_key
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


def test_an_address_without_a_page_says_so_and_leads_home(admin: Visitor) -> None:
    admin.go("live/nothing", "No such page")
    expect(admin.page.locator(".answer")).to_contain_text("/portal/live/nothing")
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.locator("main").get_by_role("link", name="Home").click()
    admin.stands_at("Home")
    admin.page.wait_for_url("**/portal/live")


def test_a_page_of_the_other_environment_is_named_and_linked(admin: Visitor) -> None:
    admin.go("live/try", "No such page")
    admin.page.get_by_role("link", name="Try it in test").click()
    admin.stands_at("Try it")
    admin.page.wait_for_url("**/portal/test/try")


def test_the_switch_leads_from_a_match_to_the_matches_of_the_other_environment(
    admin: Visitor, demo: dict[str, str]
) -> None:
    match_id = by_key(demo, "GET", "/partner/results")["results"][0]["matchId"]
    admin.open(f"/portal/test/matches/{match_id}")
    admin.page.get_by_role("heading", level=1, name="won against").wait_for()
    pages = admin.page.get_by_role("navigation", name="Pages")
    expect(pages.get_by_role("link", name="Find a match")).to_have_attribute("aria-current", "true")
    pages.get_by_role("link", name="Live").click()
    admin.stands_at("Find a match")
    admin.page.wait_for_url("**/portal/live/find")


def test_a_button_keeps_the_focus_while_its_act_is_under_way(admin: Visitor) -> None:
    admin.go("test/webhooks", "Webhooks")
    held: list[Route] = []
    admin.page.route("**/webhooks/test/test", lambda route: held.append(route))
    button = admin.page.get_by_role("button", name="Send a test event")
    button.focus()
    admin.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-busy", "true")
    expect(button).to_be_focused()
    admin.page.keyboard.press("Enter")  # a second press is ignored
    while not held:
        admin.page.wait_for_timeout(20)
    held[0].continue_()
    expect(button).to_have_attribute("aria-busy", "false")
    expect(button).to_be_focused()
    assert len(held) == 1
    admin.page.unroute_all()


def test_the_focus_returns_to_the_button_whose_act_asked_for_a_code(admin: Visitor) -> None:
    admin.go("test/keys", "API keys")
    admin.page.get_by_label("Label of a new test key").fill("shop")
    button = admin.page.get_by_role("button", name="Create test key")
    button.focus()
    admin.page.keyboard.press("Enter")
    admin.dialog.get_by_label("Six digits").wait_for()
    admin.page.keyboard.press("Escape")
    admin.dialog.wait_for(state="hidden")
    expect(button).to_be_focused()
    expect(admin.page.get_by_label("Label of a new test key")).to_have_value("shop")


def test_a_new_key_comes_with_a_call_whose_copy_button_hides_no_text(admin: Visitor) -> None:
    admin.go("test/keys", "API keys")
    admin.page.get_by_label("Label of a new test key").fill("shop")
    admin.press("Create test key")
    expect(admin.dialog).to_contain_text("2 minutes for keys and secrets")
    admin.confirm()
    button = admin.dialog.locator(".codebox > .btn")
    button.wait_for()
    behind = "(element) => getComputedStyle(element).backgroundColor"
    assert button.evaluate(behind) not in ("rgba(0, 0, 0, 0)", "transparent")
    admin.take_key()
    expect(admin.row("shop")).to_contain_text("by admin@demo.example")


def test_home_shows_the_latest_matches_and_folds_the_steps_once_all_are_done(
    admin: Visitor,
) -> None:
    admin.go("test", "Home")
    latest = admin.page.get_by_role("region", name="Latest matches")
    expect(latest.locator("tbody tr")).to_have_count(5)
    step = admin.page.locator('[data-step="play"]')
    expect(step).to_be_hidden()
    admin.page.locator("summary", has_text="Ready in test").click()
    expect(step).to_be_visible()
    assert axe_faults_in_both_schemes(admin.page) == []
    latest.get_by_role("link").first.click()
    admin.page.get_by_role("heading", level=1, name="won against").wait_for()
    admin.go("live", "Home")
    expect(admin.page.locator('[data-step="play"]')).to_be_visible()
