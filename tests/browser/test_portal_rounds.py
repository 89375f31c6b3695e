"""How many round trips a page of the portal needs until it shows its data."""

import time

import pytest
from playwright.sync_api import Browser, Request, Route

from tests.browser.members import by_key
from tests.browser.visitor import Visitor
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.browser

PAGES = (
    ("test", "Home"),
    ("live", "Home"),
    ("test/try", "Try it"),
    ("test/now", "Calls now"),
    ("test/find", "Find a match"),
    ("test/keys", "API keys"),
    ("test/games", "Games"),
    ("test/origins", "Origins"),
    ("test/webhooks", "Webhooks"),
    ("test/prices", "Prices"),
    ("test/theme", "Theme"),
    ("test/usage", "Usage"),
    ("test/invoices", "Invoices"),
    ("members", "Members"),
    ("events", "Event log"),
    ("versions", "API version"),
    ("terms", "Rake terms"),
    ("account", "Account"),
    ("security", "Your authenticator"),
)


_ALL_ASKED = """() => new Promise((done) => {
  const turn = (left) => left === 0
    ? done() : requestAnimationFrame(() => setTimeout(() => turn(left - 1), 50));
  turn(4);
})"""
"""Resolves when the effects of the drawn page have run, which send its requests."""


class _Held:
    """Holds the answers to a page's requests until it is told to let them go."""

    def __init__(self, visitor: Visitor, pattern: str) -> None:
        self.routes: list[Route] = []
        self._page = visitor.page
        self._pattern = pattern
        visitor.page.route(pattern, lambda route: self.routes.append(route))

    def let_go(self) -> None:
        """Let the requests that were made until now be answered. Later ones wait."""
        waiting, self.routes[:] = list(self.routes), []
        for route in waiting:
            route.continue_()

    def end(self) -> None:
        """Let all go, and hold nothing more."""
        self.let_go()
        self._page.unroute(self._pattern)  # lets go what was asked meanwhile


def _stands_after_one_round(visitor: Visitor, path: str, title: str) -> None:
    visitor.page.goto("about:blank")
    held = _Held(visitor, "**/partner/admin/**")
    visitor.open(f"/portal/{path}")
    visitor.page.get_by_role("heading", name=title, level=1).wait_for()
    visitor.page.evaluate(_ALL_ASKED)
    assert len({route.request.url for route in held.routes}) > 1, "the account and more"
    held.let_go()
    visitor.stands_at(title)
    held.end()


@pytest.mark.parametrize(("path", "title"), PAGES)
def test_a_reloaded_page_shows_what_it_has_read_after_one_round_trip(
    admin: Visitor, path: str, title: str
) -> None:
    _stands_after_one_round(admin, path, title)


def test_the_page_of_a_match_needs_one_round_trip(admin: Visitor, demo: dict[str, str]) -> None:
    match_id = by_key(demo, "GET", "/partner/results")["results"][0]["matchId"]
    admin.page.goto("about:blank")
    held = _Held(admin, "**/partner/admin/**")
    admin.open(f"/portal/test/matches/{match_id}")
    admin.page.get_by_role("heading", level=1).wait_for()
    admin.page.evaluate(_ALL_ASKED)
    held.let_go()
    admin.page.get_by_role("heading", level=1, name="won against").wait_for()
    held.end()


def test_the_scripts_of_the_first_page_are_loaded_before_the_sign_in_has_ended(
    browser: Browser, demo: dict[str, str]
) -> None:
    visitor = Visitor(browser, demo)
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/portal/assets/" in request.url:
            asked.append(request.url)

    visitor.page.on("request", note)
    visitor.open("/portal/test/usage")
    tokens = _Held(visitor, "**/token")
    visitor.sign_in()
    until = time.monotonic() + PATIENCE_S
    while not tokens.routes or not any("/billing-" in url for url in asked):
        assert time.monotonic() < until, asked
        visitor.page.wait_for_timeout(20)
    visitor.page.wait_for_load_state("load")
    before = set(asked)
    tokens.end()
    visitor.stands_at("Usage")
    assert set(asked) == before
    visitor.close()
