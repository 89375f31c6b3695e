"""Attacks on the portal from outside: frames, ways back after a sign-in, traces of a sign-in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Request

from tests.browser.demo import running_demo
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_FRAME: Final = """(src) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.onload = () => done();
  frame.src = src;
  document.body.append(frame);
})"""
"""Shows an address in a frame. Resolves when it is loaded or refused."""

_LEAD_OUTSIDE: Final = """(() => {
  const asked = JSON.parse(sessionStorage.getItem("pgs-sign-in"));
  if (asked === null) return;
  asked.back = "%s";
  sessionStorage.setItem("pgs-sign-in", JSON.stringify(asked));
})()"""
"""Puts another way back into the sign-in that the tab waits for, before the portal reads it."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    """A demo and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    with running_demo(folder) as demo:
        yield demo, folder


def test_another_origin_cannot_show_a_page_of_the_portal(
    browser: Browser, started: tuple[dict[str, str], Path], site: str
) -> None:
    page = browser.new_page()
    page.goto(site)
    for number, path in enumerate(("", "/test/keys", "/signed-in?code=1&state=w.1", "/preview")):
        page.evaluate(_FRAME, f"{started[0]['baseUrl']}/portal{path}")
        page.frames[number + 1].wait_for_url("chrome-error:**")
    page.evaluate(_FRAME, site)
    assert page.frames[-1].url.startswith(site)  # the page does load other frames
    page.close()


@pytest.mark.parametrize(
    "back", ["//evil.example/portal/x", "https://evil.example/portal", "/portal/../partner/me"]
)
def test_a_sign_in_leads_nowhere_but_into_the_portal(
    browser: Browser, started: tuple[dict[str, str], Path], back: str
) -> None:
    demo, _ = started
    visitor = Visitor(browser, demo)
    visitor.page.add_init_script(_LEAD_OUTSIDE % back)
    visitor.open("/portal/test/keys?next=//evil.example")
    visitor.sign_in()
    visitor.stands_at("Home")
    assert visitor.page.url.startswith(f"{demo['baseUrl']}/portal")
    assert visitor.tab.origins == {demo["baseUrl"], demo["issuer"]}
    visitor.close()


def test_a_sign_in_leaves_no_trace_in_the_history_the_referrers_or_the_log(
    browser: Browser, started: tuple[dict[str, str], Path]
) -> None:
    demo, folder = started
    visitor = Visitor(browser, demo)
    sent: list[Request] = []
    visitor.page.on("request", lambda request: sent.append(request))
    visitor.open("/portal/test/keys")
    visitor.sign_in()
    visitor.stands_at("API keys")
    arrived = next(request for request in sent if "/portal/signed-in?code=" in request.url)
    given = parse_qs(urlsplit(arrived.url).query)
    headers = [request.headers for request in sent]
    (token,) = {each["authorization"].split()[1] for each in headers if "authorization" in each}
    secrets = (given["code"][0], given["state"][0], token)
    history = visitor.page.evaluate("navigation.entries().map(({ url }) => url)")
    assert f"{demo['baseUrl']}/portal/test/keys" in history
    log = (folder / "demo-data" / "pgs.log").read_text()
    assert "/portal/signed-in" in log
    for secret in secrets:
        assert not any(secret in url for url in history)
        assert not any(secret in each.get("referer", "") for each in headers)
        assert secret not in log
    assert not any(token in request.url for request in sent)
    visitor.close()
