"""Windows of the portal's sign-in, and who may hold the portal's own window, in a real browser."""

from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def admin(admin: Visitor) -> Visitor:
    """The demo's admin, on the page of the origins."""
    admin.go("test/origins", "Origins")
    return admin


def test_a_small_window_signs_in_again_and_the_page_keeps_what_was_typed(admin: Visitor) -> None:
    page = admin.page
    page.get_by_label("Origin of a page").fill("https://typed.example")
    ended = {"error": "Sign in.", "reason": "sign_in_required"}
    page.route("**/partner/admin/**", lambda route: route.fulfill(status=401, json=ended))

    def refuse(route: Route) -> None:
        (state,) = parse_qs(urlsplit(route.request.url).query)["state"]
        back = f"/portal/signed-in?error=login_required&state={state}"
        route.fulfill(status=302, headers={"Location": admin.demo["baseUrl"] + back})

    page.route("**/*prompt=none*", refuse)  # the issuer wants to see the person
    page.evaluate("dispatchEvent(new Event('online'))")  # reads what is shown again
    admin.dialog.get_by_text("Your sign-in has ended").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    page.unroute_all()
    with page.expect_popup() as opened:
        admin.press("Sign in again", admin.dialog)
    with opened.value.expect_event("close"):
        opened.value.get_by_role("button", name="Dana Demo").click()
    admin.dialog.wait_for(state="hidden")
    assert page.get_by_label("Origin of a page").input_value() == "https://typed.example"
    admin.stands_at("Origins")


def test_the_page_before_the_sign_in_has_the_products_mark(
    browser: Browser, demo: dict[str, str]
) -> None:
    with closing(Visitor(browser, demo)) as visitor:
        visitor.open("/portal")
        brand = visitor.page.locator(".brand")
        expect(brand).to_have_text("Game Service")
        expect(brand.locator("svg")).to_be_visible()
        assert axe_faults_in_both_schemes(visitor.page) == []


def test_a_page_that_opens_the_portal_cannot_reach_its_window(admin: Visitor, site: str) -> None:
    other = admin.page.context.new_page()
    other.goto(site)
    with other.expect_popup() as opened:
        other.evaluate(
            "(address) => { window.held = open(address) }", f"{admin.demo['baseUrl']}/portal"
        )
    opened.value.get_by_role("heading", name="Home", level=1).wait_for()
    assert opened.value.evaluate("window.opener") is None
    assert other.evaluate("window.held.closed")
    opened.value.close()
    other.close()
