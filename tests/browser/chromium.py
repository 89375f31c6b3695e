"""A real browser, driven from outside of any trio run, and the page of a partner that embeds the frame."""

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FrameLocator,
    Locator,
    Page,
    Request,
    sync_playwright,
)

REQUIRED: Final = "REQUIRE_BROWSER"
"""The variable under which a missing Chromium is a failure: continuous integration sets it."""

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
# Whatever a page may ask for, nothing leaves this machine.
_NOWHERE = "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"

PATIENCE_MS: Final = 20_000.0
"""What a test waits for in the page comes within this on any machine, or never."""


def find_chromium() -> str:
    """The path of a Chromium; skips the test where there is none, or fails it where one is required."""
    for name in _NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    message = f"no Chromium on this machine (looked for {', '.join(_NAMES)}): what needs a real browser is NOT tested"
    if os.environ.get(REQUIRED):
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def launched(*flags: str, hosts: Sequence[str] = ()) -> Iterator[Browser]:
    """A running browser. `hosts` are names that it finds on this machine."""
    path = find_chromium()
    rules = ", ".join([*(f"MAP {host} 127.0.0.1" for host in hosts), _NOWHERE])
    with sync_playwright() as playwright:
        arguments = [*_FLAGS, f"--host-resolver-rules={rules}", *flags]
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=arguments)
        yield browser
        browser.close()


_HOST_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A partner's page</title><link rel="icon" href="data:,"></head>
<body style="margin:0"><div id="game"></div><script>
window.told = [];
window.play = (service, embedUrl, sessionToken, height) => new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = service + "/embed/pgs-embed.js";
  script.onerror = failed;
  script.onload = () => {
    const tell = (message) => window.told.push(message);
    const options = { embedUrl, sessionToken, height, onReady: tell, onState: tell, onEnded: tell, onError: tell };
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
        """Say nothing."""


@contextmanager
def partner_site() -> Iterator[str]:
    """A site that embeds the frame, on an origin of its own; gives that origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _HostHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        # By name, so that it is another site than the service too, not only another port.
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Tab:
    """A partner's page with the frame in it, and everything that went wrong there."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        self.origins: set[str] = set()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _request(self, request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "about"):
            self.origins.add(f"{where.scheme}://{where.netloc}")

    def embed(self, site: str, service: str, src: str, token: str, height: str = "720px") -> None:
        """Open the partner's page and mount the frame in it."""
        self.page.goto(site)
        self.page.evaluate(
            "([service, src, token, height]) => play(service, src, token, height)",
            [service, src, token, height],
        )

    @property
    def frame(self) -> FrameLocator:
        """The inside of the frame."""
        return self.page.frame_locator("iframe")

    def cell(self, name: str) -> Locator:
        """A cell of the board."""
        return self.frame.locator(f'[data-cell="{name}"]')

    def sees(self, text: str) -> None:
        """Wait until the headline says that."""
        self.frame.locator(".headline", has_text=text).wait_for()

    def focuses(self, selector: str) -> None:
        """Wait until the focus is on that."""
        self.frame.locator(f"{selector}:focus").wait_for()

    def hears(self, text: str) -> None:
        """Wait until a screen reader is told that."""
        self.frame.locator("[aria-live=polite]", has_text=text).wait_for(state="attached")

    def told(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What the host page was told."""
        messages: list[dict[str, Any]] = self.page.evaluate("window.told")
        return [message for message in messages if kind is None or message["type"] == kind]
