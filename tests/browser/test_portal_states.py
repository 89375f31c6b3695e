"""What the portal shows in states that are rare: a locked authenticator, an account that is off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture
def switched_off(viewer: Visitor) -> Iterator[Page]:
    """A page that reads of its account that it is switched off."""

    def answer(route: Route) -> None:
        told = route.fetch().json()
        route.fulfill(json=told | {"active": False})

    viewer.page.route("**/partner/admin/account", answer)
    yield viewer.page
    viewer.page.unroute_all(behavior="ignoreErrors")


def test_home_and_every_other_page_say_that_the_account_is_off(
    viewer: Visitor, switched_off: Page
) -> None:
    viewer.go("test", "Home")
    expect(switched_off.locator(".answer")).to_contain_text("no key works and nobody can play")
    expect(switched_off.get_by_role("link", name="Keys that work")).to_contain_text("0")
    banner = switched_off.get_by_role("region", name="Broken")
    for path, title in (("live/webhooks", "Webhooks"), ("members", "Members")):
        viewer.go(path, title)
        expect(banner).to_contain_text("The account is switched off.")
    banner.get_by_role("link", name="See the account").click()
    viewer.stands_at("Account")
    expect(banner).to_be_hidden()  # the page itself says it


def test_a_second_enrolment_warns_that_the_first_secret_does_not_count(
    viewer: Visitor,
) -> None:
    viewer.go("security", "Your authenticator")  # the first run has shown a secret before
    viewer.press("Connect an authenticator")
    viewer.page.get_by_text("remove it from the app").wait_for()
    assert axe_faults_in_both_schemes(viewer.page) == []


def test_a_reload_of_webhooks_keeps_the_search_and_the_attempt_that_is_open(
    viewer: Visitor,
) -> None:
    attempt, *_ = viewer.call("GET", "webhooks/test/attempts")["attempts"]
    viewer.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    request = viewer.page.get_by_role("region", name="Request")
    expect(request).to_contain_text("results.available")
    search = viewer.page.get_by_role("searchbox")
    search.fill(attempt["attemptId"])
    viewer.page.wait_for_url(f"**&q={attempt['attemptId']}")
    viewer.page.reload()
    viewer.stands_at("Webhooks")
    expect(search).to_have_value(attempt["attemptId"])
    expect(request).to_contain_text("results.available")


def test_five_wrong_codes_lock_the_step_up_and_its_next_dialog_says_so_at_once(
    admin: Visitor,
) -> None:
    admin.go("test/keys", "API keys")
    admin.page.get_by_label("Label of a new test key").fill("locked")
    admin.press("Create test key")
    code = admin.dialog.get_by_label("Six digits")
    alert = admin.dialog.get_by_role("alert")
    for left in (4, 3, 2, 1):
        code.fill("000000")
        noun = "try" if left == 1 else "tries"
        expect(alert).to_contain_text(f"Before a lock: {left} {noun}.")
        code.fill("")
    code.fill("000000")
    expect(alert).to_contain_text("5 wrong codes. You can try again at")
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.press("Cancel", admin.dialog)
    admin.press("Create test key")
    expect(alert).to_contain_text("5 wrong codes.")
    admin.confirm()  # a right one
    expect(alert).to_contain_text("5 wrong codes.")
    admin.press("Cancel", admin.dialog)
    admin.go("security", "Your authenticator")
    expect(admin.page.locator(".answer")).to_contain_text("5 wrong codes.")
