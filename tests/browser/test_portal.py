"""The portal in a real browser, served by `pgs demo`, signed in at the demo's issuer."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.chromium import WAIT_MAX_MS
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


_PAGES = (
    ("/portal/test", "Home"),
    ("/portal/live", "Home"),
    ("/portal/test/keys", "API keys"),
    ("/portal/live/keys", "API keys"),
    ("/portal/test/games", "Games"),
    ("/portal/live/games", "Games"),
    ("/portal/test/webhooks", "Webhooks"),
    ("/portal/live/webhooks", "Webhooks"),
    ("/portal/test/origins", "Origins"),
    ("/portal/members", "Members"),
    ("/portal/terms", "Rake terms"),
    ("/portal/versions", "API version"),
    ("/portal/account", "Account"),
    ("/portal/security", "Your authenticator"),
)


@pytest.fixture(scope="module")
def admin(browser: Browser, demo: dict[str, str]) -> Iterator[Visitor]:
    """The demo's admin. One for all tests, because each code of the authenticator works once."""
    visitor = Visitor(browser, demo)
    visitor.open("/portal/test/keys?from=a-colleague")
    visitor.sign_in()
    visitor.stands_at("API keys")
    assert visitor.page.url == f"{demo['baseUrl']}/portal/test/keys?from=a-colleague"
    visitor.page.get_by_label("Label of a new test key").fill("first")
    visitor.press("Create test key")
    visitor.dialog.get_by_label("Six digits").fill("000000")
    visitor.dialog.get_by_text("This code is wrong").wait_for()
    visitor.dialog.get_by_text("Before a lock: 4 tries.").wait_for()
    assert axe_faults_in_both_schemes(visitor.page) == []
    visitor.confirm()
    assert visitor.status_of(visitor.take_key()) == 200
    visitor.row("first").get_by_text("works").wait_for()
    yield visitor
    visitor.close()


def test_the_token_is_in_memory_alone_and_a_reload_renews_it(admin: Visitor) -> None:
    admin.open("/portal/test/keys")
    admin.stands_at("API keys")
    stored = admin.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert stored == "[{},{}]"
    assert admin.page.evaluate("document.cookie") == ""
    assert admin.tab.origins == {admin.demo["baseUrl"], admin.demo["issuer"]}


def test_back_does_not_lose_a_key_that_is_shown_and_a_reload_asks_first(admin: Visitor) -> None:
    admin.open("/portal/test/games")
    admin.stands_at("Games")
    admin.page.get_by_role("link", name="API keys", exact=True).click()
    admin.stands_at("API keys")
    admin.page.get_by_label("Label of a new test key").fill("kept")
    admin.press("Create test key")
    admin.dialog.locator(".secret code").wait_for()
    admin.page.go_back()
    assert admin.dialog.is_visible()
    assert admin.page.url.endswith("/portal/test/keys")
    assert admin.asks_before_leaving()
    admin.take_key()
    assert not admin.asks_before_leaving()
    admin.page.go_back()
    admin.stands_at("Games")


def test_keys_are_created_rotated_and_revoked(admin: Visitor) -> None:
    admin.open("/portal/test/keys")
    admin.stands_at("API keys")
    key = admin.create_key("for the shop")  # the sign-in was renewed, its window is still open
    admin.press("Rotate for the shop")
    admin.dialog.get_by_text("7 days to change your servers").wait_for()
    admin.press("Rotate the key")
    new = admin.take_key()
    assert (admin.status_of(key), admin.status_of(new)) == (200, 200)
    admin.row("for the shop").get_by_text("stops").wait_for()
    admin.press("Revoke for the shop", admin.row("for the shop").filter(has_text="works"))
    admin.dialog.get_by_text("refused from this second").wait_for()
    admin.page.wait_for_function("document.activeElement.textContent === 'Leave it'")
    admin.page.keyboard.press("Escape")
    admin.dialog.wait_for(state="hidden")
    assert admin.status_of(new) == 200
    admin.press("Revoke for the shop", admin.row("for the shop").filter(has_text="works"))
    admin.press(f"Revoke …{new[-4:]} now")
    admin.page.get_by_role("status").get_by_text("is revoked").wait_for()
    assert admin.status_of(new) == 401


def test_a_change_by_somebody_else_is_shown_and_not_overwritten(admin: Visitor) -> None:
    admin.open("/portal/test/origins")
    admin.stands_at("Origins")
    page = admin.page
    # A window of its own: the browser draws a tab that is not in front only once a second.
    with page.expect_popup() as opened:
        page.evaluate("open('/portal/test/games', '', 'popup')")
    colleague = opened.value
    colleague.set_default_timeout(WAIT_MAX_MS)
    for state, other in (("off", "on"), ("on", "off")):
        colleague.get_by_role("button", name=f"Turn {state} Reversi in test").click()
        if state == "off":
            asked = colleague.get_by_role("dialog")
            asked.get_by_role("button", name="Turn Reversi off in test").click()
        colleague.get_by_role("button", name=f"Turn {other} Reversi in test").wait_for()
        page.get_by_label("Origin of a page").fill("https://shop.example/play?x=1")
        admin.press("Add test origin")
        admin.dialog.get_by_text("Somebody has changed the account").wait_for()
        admin.dialog.get_by_text("admin@demo.example", exact=True).wait_for()
        assert axe_faults_in_both_schemes(page) == []
        if state == "off":
            admin.press("Show what it is now")
            admin.dialog.wait_for(state="hidden")
            page.locator("button[aria-busy=false]", has_text="Add test origin").wait_for()
            expect(page.locator("main").get_by_role("alert")).to_have_count(0)
            assert page.get_by_label("Origin of a page").input_value().startswith("https://shop")
            assert page.get_by_role("listitem").filter(has_text="shop.example").count() == 0
    admin.press("Continue anyway")
    entry = page.get_by_role("listitem").filter(has_text="https://shop.example")
    entry.wait_for()
    admin.press("Remove https://shop.example", entry)
    admin.press("Remove the origin", admin.dialog)
    entry.wait_for(state="detached")
    colleague.close()


def test_games_are_turned_off_and_on_in_test_and_requested_in_live(admin: Visitor) -> None:
    admin.open("/portal/test/games")
    admin.stands_at("Games")
    reversi = admin.page.locator('[data-row="reversi"]')
    admin.press("Turn off Reversi in test", reversi)
    admin.press("Turn Reversi off in test", admin.dialog)
    admin.press("Turn on Reversi in test", reversi)
    reversi.get_by_text("on", exact=True).wait_for()
    admin.page.get_by_role("link", name="Live", exact=True).click()
    admin.page.wait_for_url("**/portal/live/games")
    admin.stands_at("Games")
    assert admin.page.title().startswith("Live · Games · ")
    admin.page.go_back()
    admin.page.wait_for_url("**/portal/test/games")
    admin.page.get_by_role("button", name="Turn off Reversi in test").wait_for()


def test_a_webhook_is_saved_tried_and_switched_off(admin: Visitor) -> None:
    admin.open("/portal/live/webhooks")
    admin.stands_at("Webhooks")
    admin.page.get_by_label("Address").fill("http://shop.example/hook")
    admin.press("Save live address")
    admin.page.get_by_text("Send an https URL").wait_for()
    admin.page.get_by_label("Address").fill("https://hooks.example.com/live")
    admin.press("Save live address")
    assert admin.take_key().startswith("whsec_")
    admin.page.get_by_text("Nothing has been sent to this address yet").wait_for()
    admin.press("Replace the secret")
    admin.press("Replace the secret", admin.dialog)
    assert admin.take_key().startswith("whsec_")
    admin.press("Switch it off")
    admin.press("Switch it off", admin.dialog)
    admin.page.get_by_text("Switched off since").wait_for()

    # The demo's endpoint is there: its log has the nudges of the story.
    admin.open("/portal/test/webhooks")
    admin.stands_at("Webhooks")
    admin.page.locator("tr[data-row]", has_text="200").first.wait_for()
    admin.press("Send a test event")
    admin.page.get_by_role("status").get_by_text("was answered with 200").wait_for()
    admin.page.locator("tr[data-row]", has_text="test event").first.wait_for()


def test_axe_finds_nothing_and_nothing_scrolls_sideways(admin: Visitor) -> None:
    for path, title in _PAGES:
        admin.open(path)
        admin.stands_at(title)
        assert axe_faults_in_both_schemes(admin.page) == []
        admin.page.set_viewport_size({"width": 360, "height": 700})
        assert admin.page.evaluate("document.documentElement.scrollWidth") <= 360
        if title in ("Home", "API keys", "Members"):  # one of each kind of content
            assert axe_faults_in_both_schemes(admin.page) == []
        admin.page.set_viewport_size({"width": 1280, "height": 800})


def test_the_palette_and_key_presses_open_pages_and_move_the_focus_to_their_heading(
    admin: Visitor,
) -> None:
    admin.open("/portal/live/keys")
    admin.stands_at("API keys")
    admin.page.keyboard.press("Control+k")
    admin.dialog.get_by_role("combobox").fill("memb")
    admin.dialog.get_by_role("option", name="Members").wait_for()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.keyboard.press("Enter")
    admin.stands_at("Members")
    admin.page.wait_for_function("document.activeElement.textContent === 'Members'")
    assert admin.page.title() == "Members · Demo Partner"
    admin.page.keyboard.press("g")
    admin.page.keyboard.press("w")
    admin.page.wait_for_url("**/portal/live/webhooks")
    admin.stands_at("Webhooks")
    admin.page.get_by_label("Address").press_sequentially("gk")  # a field takes its letters
    assert admin.page.url.endswith("/portal/live/webhooks")
    admin.press("admin@demo.example, admin")
    admin.dialog.get_by_text("A code was given.").wait_for()
    admin.press("Dark", admin.dialog)
    admin.press("System", admin.dialog)
    admin.press("Done", admin.dialog)


def test_every_page_but_its_own_shows_that_a_webhook_fails(admin: Visitor) -> None:
    failing = {"url": "https://shop.example/h", "enabled": True, "consecutiveFailures": 4}
    off = {**failing, "enabled": False}
    admin.page.route("**/webhooks/test", lambda route: route.fulfill(json={"webhook": failing}))
    admin.page.route("**/webhooks/live", lambda route: route.fulfill(json={"webhook": off}))
    admin.open("/portal/live/keys")
    admin.page.get_by_text("Webhook in live is switched off.").wait_for()
    told = admin.page.get_by_text("Webhook in test: 4 nudges in a row failed.")
    for _ in range(3):  # a rotated key that is still used may be told too
        if not told.is_visible():
            admin.page.get_by_role("button", name="show the next one").click()
    told.wait_for()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.get_by_role("link", name="See why").click()
    admin.page.wait_for_url("**/portal/test/webhooks")
    admin.stands_at("Webhooks")
    expect(admin.page.locator(".banner")).not_to_contain_text("Webhook in test")
    admin.page.unroute_all()


def test_a_page_that_cannot_be_read_says_so_and_is_read_again(admin: Visitor) -> None:
    outage = {"error": "The registry cannot be read.", "reason": "registry_unavailable"}
    admin.page.route("**/admin/origins", lambda route: route.fulfill(status=503, json=outage))
    admin.open("/portal/test/origins")
    admin.page.get_by_text("The registry cannot be read.").wait_for()
    admin.page.get_by_text("This page could not be read.").wait_for()
    assert axe_faults_in_both_schemes(admin.page) == []
    admin.page.unroute("**/admin/origins")
    admin.press("Try now")
    admin.page.get_by_label("Origin of a page").wait_for()
    admin.page.context.set_offline(True)
    admin.page.get_by_text("No connection since").wait_for()
    assert admin.page.get_by_label("Origin of a page").is_visible()
    admin.page.context.set_offline(False)
    admin.page.get_by_text("No connection since").wait_for(state="detached")


def test_an_answer_to_a_sign_in_that_was_not_begun_here_is_refused(
    browser: Browser, demo: dict[str, str]
) -> None:
    visitor = Visitor(browser, demo)
    visitor.open("/portal/signed-in?code=stolen&state=made-up")
    visitor.page.get_by_text("This sign-in was not begun here.").wait_for()
    assert visitor.page.url == f"{demo['baseUrl']}/portal"
    assert axe_faults_in_both_schemes(visitor.page) == []
    # A sign-in that is under way, whose answer carries another state.
    visitor.page.evaluate(
        """sessionStorage.setItem("pgs-sign-in",
          JSON.stringify({ state: "mine", verifier: "v", nonce: "n", back: "/portal" }))"""
    )
    visitor.open("/portal/signed-in?code=stolen&state=made-up")
    visitor.page.get_by_text("The answer is not to this request.").wait_for()
    assert visitor.page.evaluate("sessionStorage.length") == 0
    visitor.close()


def test_somebody_without_an_account_is_told_so(browser: Browser, demo: dict[str, str]) -> None:
    visitor = Visitor(browser, demo)
    visitor.open("/portal")
    visitor.sign_in("Devi Demo")
    visitor.page.get_by_role("heading", name="No invite for you").wait_for()
    visitor.press("Sign out")
    visitor.page.get_by_role("button", name="Sign in").wait_for()
    visitor.page.reload()  # the issuer still knows the browser, and is not asked
    visitor.sign_in("Devi Demo")
    visitor.page.get_by_role("heading", name="No invite for you").wait_for()
    visitor.close()
