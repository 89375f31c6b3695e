"""A partner's page with the helper `pgs-embed.js`: what it tells the page, and what fails."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, Route

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.chromium import Tab
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

_STAND_IN: Final = """<!doctype html><meta charset="utf-8"><title>frame</title><script>
window.heard = [];
addEventListener("message", (event) => heard.push(event.data));
window.send = (message) => parent.postMessage(message, "*");
send({ type: "pgs.ready" });
</script>"""
"""A document in the frame's place that keeps what it hears and says what the test wants."""

_MOUNT: Final = """async ([service, options, session]) => {
  if (!window.PgsEmbed) await import(service + "/embed/pgs-embed.js");
  window.heard = [];
  window.asked = 0;
  window.session = session;
  const keep = (message) => heard.push(message);
  const ask = async () => {
    asked += 1;
    if (window.session === "throws") throw new Error("the backend is down");
    return window.session === "hangs" ? new Promise(() => {}) : window.session;
  };
  window.mounted = PgsEmbed.mount(document.getElementById("game"), {
    ...(session === null ? {} : { session: ask }),
    onReady: keep, onState: keep, onEnded: keep, onError: keep,
    ...options, ...(options.onAgain ? { onAgain: keep } : {}),
  });
}"""


class Host:
    """A partner's page in a tab of its own."""

    def __init__(self, browser: Browser, service: str, site: str, **how: Any) -> None:
        self.service = service
        self.page: Page = browser.new_context(locale="en-GB", **how).new_page()
        self.tab = Tab(self.page)
        self.page.goto(site)

    def mount(self, session: object, **options: object) -> None:
        """Mount a frame. `session`: what the page's function returns, `throws` or `hangs`."""
        self.page.evaluate(_MOUNT, [self.service, options, session])

    def stop_the_clock(self) -> None:
        """Let the page's time pass only when the test says so."""
        self.page.clock.install(time=0)
        self.page.clock.pause_at(1000)

    def stand_in(self, environment: str = "test") -> str:
        """Answer a frame's address with a stand-in; return the address."""
        where = f"{self.service}/embed/{environment}/stand-in"

        def answer(route: Route) -> None:
            route.fulfill(body=_STAND_IN, content_type="text/html")

        self.page.route(f"{where}*", answer)
        return where

    def reports(self, reason: str, times: int = 1) -> None:
        """Wait until `onError` has been told a reason this often."""
        self.page.wait_for_function(
            "([reason, times]) => heard.filter((m) => m.reason === reason).length >= times",
            arg=[reason, times],
        )

    def is_ready(self) -> None:
        """Wait until the frame is there."""
        self.page.wait_for_function("() => heard.some((m) => m.type === 'pgs.ready')")
        self.page.locator("#game iframe").wait_for(state="visible")

    def heard(self) -> list[dict[str, Any]]:
        """Return the messages that the page's handlers have got."""
        heard: list[dict[str, Any]] = self.page.evaluate("heard")
        return heard

    def frame_heard(self, kind: str) -> list[dict[str, Any]]:
        """Wait for a message of this type in the stand-in; return all of them."""
        frame = next(frame for frame in self.page.frames if "stand-in" in frame.url)
        frame.wait_for_function("(kind) => heard.some((m) => m.type === kind)", arg=kind)
        found: list[dict[str, Any]] = frame.evaluate(
            "(kind) => heard.filter((m) => m.type === kind)", kind
        )
        return found

    def frame_says(self, **message: object) -> None:
        """Send a message from the stand-in to the page."""
        frame = next(frame for frame in self.page.frames if "stand-in" in frame.url)
        frame.evaluate("(message) => send(message)", message)

    @property
    def again(self) -> Locator:
        """The button that the helper shows after a failure."""
        return self.page.get_by_role("button", name="Try again")


@pytest.fixture
def host(browser: Browser, service: SharedService, site: str) -> Iterator[Host]:
    """A partner's page."""
    opened = Host(browser, service.client.base_url, site)
    yield opened
    opened.page.context.close()


def _mint(service: SharedService, partner: Partner) -> dict[str, str]:
    body = {"gameId": BOTH, "playerId": "alice"}
    session = ok(service.client.call("POST", "/partner/sessions", partner.test, body))
    return {name: session[name] for name in ("embedUrl", "sessionToken")}


def test_a_page_whose_session_throws_shows_no_blank_frame_and_tries_again(
    host: Host, service: SharedService, partner: Partner
) -> None:
    host.mount("throws")
    host.reports("session_unavailable")
    host.page.get_by_text("The game could not be loaded.").wait_for()
    assert host.page.locator("#game iframe").is_hidden()
    assert axe_faults_in_both_schemes(host.page, "#game") == []
    host.page.evaluate("(session) => { window.session = session; }", _mint(service, partner))
    host.again.press("Enter")
    host.is_ready()
    assert host.again.is_hidden()
    assert [message["reason"] for message in host.heard() if "reason" in message] == [
        "session_unavailable"
    ]
    assert host.tab.errors == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"sessionToken": "pgs1.x"},
        {"embedUrl": "SERVICE/embed/test/nobody"},
        {"embedUrl": "javascript:alert(1)", "sessionToken": "pgs1.x"},
        {"embedUrl": "elsewhere", "sessionToken": "pgs1.x"},
        [],
    ],
    ids=["empty", "no-address", "no-token", "script", "no-origin", "list"],
)
def test_an_answer_that_is_no_session_is_a_failure(host: Host, answer: object) -> None:
    host.mount(json.loads(json.dumps(answer).replace("SERVICE", host.service)))
    host.reports("session_unavailable")
    host.again.wait_for()
    assert host.page.locator("#game iframe").is_hidden()


def test_a_session_that_fails_is_asked_for_again_at_growing_distances(host: Host) -> None:
    host.stop_the_clock()
    host.mount("throws")
    host.reports("session_unavailable")
    asked = 1
    for seconds in (5, 10, 20, 40, 60, 60):
        host.page.clock.run_for(seconds * 1000 - 1)
        assert host.page.evaluate("asked") == asked
        host.page.clock.run_for(1)
        asked += 1
        host.page.wait_for_function("(asked) => window.asked === asked", arg=asked)
    assert len(host.heard()) == 1  # one outage, one report
    host.page.evaluate(
        "(url) => { window.session = { embedUrl: url, sessionToken: 'pgs1.x' }; }", host.stand_in()
    )
    host.page.clock.run_for(61_000)
    host.is_ready()
    assert host.frame_heard("pgs.session")[0]["sessionToken"] == "pgs1.x"


def test_a_session_that_never_comes_is_a_failure(host: Host) -> None:
    host.stop_the_clock()
    host.mount("hangs")
    host.page.get_by_text("The game is loading.").wait_for()
    assert host.again.is_hidden()
    host.page.clock.run_for(20_001)
    host.reports("session_unavailable")
    host.again.wait_for()


def test_on_an_origin_that_is_not_registered_the_page_is_told(
    host: Host, service: SharedService, site: str
) -> None:
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, "test", "http://localhost:1"))
    host.stop_the_clock()
    host.mount(_mint(service, partner))
    host.page.clock.run_for(9_000)
    assert host.heard() == []
    host.page.clock.run_for(1_001)
    host.reports("frame_not_loaded")
    host.page.get_by_text("The game could not be loaded.").wait_for()
    assert host.page.locator("#game iframe").is_hidden()
    service.account(partner, AddOrigin(PLATFORM, "test", site))
    host.again.click()
    host.is_ready()
    assert host.again.is_hidden()


def test_the_frame_learns_the_language_and_whether_the_page_offers_another_match(
    host: Host,
) -> None:
    url = host.stand_in()
    host.mount({"embedUrl": url, "sessionToken": "pgs1.x"}, lang="pt-BR", onAgain=True)
    host.is_ready()
    told = host.frame_heard("pgs.host")
    assert told == [{"type": "pgs.host", "again": True, "lang": "pt-BR"}]
    assert host.page.locator("#game iframe").get_attribute("src") == f"{url}?lang=pt-BR"
    host.frame_heard("pgs.session")
    host.frame_says(type="pgs.again", matchId="mat_1")
    host.page.wait_for_function("() => heard.some((m) => m.type === 'pgs.again')")
    assert host.page.locator("#game iframe").get_attribute("title") == "Jogo"

    host.page.evaluate("mounted.unmount()")
    assert host.page.locator("#game > *").count() == 0
    host.mount({"embedUrl": url, "sessionToken": "pgs1.x"})
    host.is_ready()
    assert host.frame_heard("pgs.host") == [{"type": "pgs.host", "again": False}]


def test_the_frame_gets_the_height_that_it_needs_within_bounds(host: Host) -> None:
    host.mount({"embedUrl": host.stand_in(), "sessionToken": "pgs1.x"}, height="300px")
    host.is_ready()
    frame = host.page.locator("#game iframe")

    def height() -> float:
        return float(frame.evaluate("(frame) => frame.getBoundingClientRect().height"))

    for asked, given in ((612.4, 613), (200, 300), (1e9, 4000), (280, 300)):
        host.frame_says(type="pgs.size", height=asked)
        host.page.wait_for_function(
            "(px) => document.querySelector('iframe').getBoundingClientRect().height === px",
            arg=given,
        )
    for wrong in (0, -5, "900", None):
        host.frame_says(type="pgs.size", height=wrong)
    host.frame_says(type="pgs.state", status="waiting")
    host.page.wait_for_function("() => heard.some((m) => m.type === 'pgs.state')")
    assert height() == 300


def test_a_session_of_another_frame_loads_that_frame(host: Host) -> None:
    host.mount({"embedUrl": host.stand_in(), "sessionToken": "pgs1.first"})
    host.is_ready()
    host.frame_says(type="pgs.error", reason="session_mismatch")
    host.reports("session_mismatch")
    second = host.stand_in("other")
    host.page.evaluate(
        "(url) => { window.session = { embedUrl: url, sessionToken: 'pgs1.second' }; }", second
    )
    host.frame_says(type="pgs.error", reason="session_expired")
    host.page.frame_locator("iframe").locator("html").wait_for(state="attached")
    host.page.wait_for_function("(url) => document.querySelector('iframe').src === url", arg=second)
    host.page.wait_for_function("() => heard.filter((m) => m.type === 'pgs.ready').length === 2")
    assert [message["sessionToken"] for message in host.frame_heard("pgs.session")] == [
        "pgs1.second"
    ]


def test_messages_of_other_windows_and_other_types_are_ignored(host: Host) -> None:
    host.mount({"embedUrl": host.stand_in(), "sessionToken": "pgs1.x"})
    host.is_ready()
    host.page.evaluate(
        """() => {
          for (const data of [null, 1, "pgs.state", { type: "pgs.ended" }, { type: "onError" }]) {
            window.postMessage(data, "*");
          }
        }"""
    )
    host.frame_says(type="toString")
    host.frame_says(type="pgs.state", status="waiting")
    host.page.wait_for_function("() => heard.some((m) => m.type === 'pgs.state')")
    assert [message["type"] for message in host.heard()] == ["pgs.ready", "pgs.state"]
    assert host.tab.errors == []


def test_the_words_are_in_the_language_of_the_page_and_in_its_colours(host: Host) -> None:
    host.page.evaluate(
        "document.body.style.cssText = 'background: #111; color: rgb(250, 240, 230)'"
    )
    host.mount("throws", lang="ar")
    host.reports("session_unavailable")
    text = host.page.get_by_text("تعذّر تحميل اللعبة.")
    text.wait_for()
    assert text.evaluate("(p) => getComputedStyle(p).direction") == "rtl"
    assert text.evaluate("(p) => getComputedStyle(p).color") == "rgb(250, 240, 230)"
    host.page.get_by_role("button", name="إعادة المحاولة").wait_for()
