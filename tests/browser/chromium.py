"""A real browser, and a partner's page in it that embeds the frame. Nothing here runs in trio."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FrameLocator,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.patience import PATIENCE_S
from tests.tools import find_tool

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Chromium obeys only the last flag of this kind, so it names what Playwright switches off, and then
# two pages of the address bar. Without the flag, each window has a process for each of these pages,
# and opening it takes 0.95 instead of 0.42 s of processor time.
_SWITCHED_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
# Host names that resolve to nothing, so that no request leaves this machine.
_BLOCK_OTHER_HOSTS = "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"

WAIT_MAX_MS: Final = 1000 * PATIENCE_S
"""How long a test waits for something in a page, long enough for a slow machine."""

expect.set_options(timeout=WAIT_MAX_MS)


@contextmanager
def running_chromium(*flags: str, hosts: Sequence[str] = ()) -> Iterator[Browser]:
    """Run a browser for a block. It resolves the names in `hosts` to this machine."""
    path = find_tool(*_NAMES)
    rules = ", ".join([*(f"MAP {host} 127.0.0.1" for host in hosts), _BLOCK_OTHER_HOSTS])
    with sync_playwright() as playwright:
        off = f"--disable-features={','.join(_SWITCHED_OFF)}"
        arguments = [*_FLAGS, off, f"--host-resolver-rules={rules}", *flags]
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=arguments)
        yield browser
        browser.close()


_HOST_PAGE: Final = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><title>A partner's page</title><link rel="icon" href="data:,">
</head><body style="margin:0"><div id="game"></div><script>
window.messages = [];
window.play = (service, embedUrl, sessionToken, height) => new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = service + "/embed/pgs-embed.js";
  script.onerror = failed;
  script.onload = () => {
    const keep = (message) => window.messages.push(message);
    const handlers = { onReady: keep, onState: keep, onEnded: keep, onError: keep };
    const options = { embedUrl, sessionToken, height, ...handlers };
    window.mounted = PgsEmbed.mount(document.getElementById("game"), options);
    done();
  };
  document.body.append(script);
});
</script></body></html>"""


class _HostHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = _HOST_PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@contextmanager
def partner_site() -> Iterator[str]:
    """Serve the host page for a block, on an origin of its own. Yields that origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _HostHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        # The name makes it another site than the service, which is at 127.0.0.1.
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Tab:
    """A browser tab with a partner's page, which embeds the frame."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        """Errors and warnings of the console, and exceptions that no script has caught."""
        self.origins: set[str] = set()
        """The origins to which the page or the frame has sent requests."""
        page.set_default_timeout(WAIT_MAX_MS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _request(self, request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "about"):
            self.origins.add(f"{where.scheme}://{where.netloc}")

    def embed(
        self, site: str, service: str, embed_url: str, token: str, height: str = "720px"
    ) -> None:
        """Open the partner's page, and mount the frame in it."""
        self.page.goto(site)
        self.page.evaluate(
            "([service, embedUrl, token, height]) => play(service, embedUrl, token, height)",
            [service, embed_url, token, height],
        )

    def reload(self) -> None:
        """Load the document in the frame again. The page around it hands it its session."""
        self.page.evaluate("() => { const { iframe } = window.mounted; iframe.src = iframe.src; }")

    @property
    def frame(self) -> FrameLocator:
        """The document in the frame."""
        return self.page.frame_locator("iframe")

    def cell(self, name: str) -> Locator:
        """Return a cell of the board by its id."""
        return self.frame.locator(f'[data-cell="{name}"]')

    def sees(self, text: str) -> None:
        """Wait until the headline contains a text."""
        self.frame.locator(".headline", has_text=text).wait_for()

    def focuses(self, selector: str) -> None:
        """Wait until an element in the frame has the focus."""
        self.frame.locator(f"{selector}:focus").wait_for()

    def hears(self, text: str) -> None:
        """Wait until the text for screen readers contains a text."""
        self.frame.locator("[aria-live=polite]", has_text=text).wait_for(state="attached")

    def messages(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the messages that the host page has received, all or those of one type."""
        messages: list[dict[str, Any]] = self.page.evaluate("window.messages")
        return [message for message in messages if kind is None or message["type"] == kind]


def win_with_the_first_row(first: Tab, second: Tab) -> None:
    """Play a match of tic-tac-toe to its end. `first` moves first, and wins."""
    turns = ((first, second), (second, first))
    for number, cell in enumerate(("a1", "a2", "b1", "b2", "c1")):
        mover, other = turns[number % 2]
        mover.cell(cell).click()
        other.cell(cell).locator(".mark").wait_for()
    first.sees("You won")
    second.sees("You lost")
