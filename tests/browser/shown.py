"""A frame that shows whatever a test wants, as large as the window."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Frame

from tests.browser.chromium import Tab
from tests.browser.positions import LONG, State, show
from tests.browser.scripted_server import ScriptedServer

_ARRIVED = """([matchId, status]) => window.messages.some((message) =>
  message.type === 'pgs.state' && message.matchId === matchId && message.status === status)"""


@dataclass
class Shown:
    """A frame that shows whatever the test wants."""

    tab: Tab
    server: ScriptedServer
    matches: int = 0

    @property
    def document(self) -> Frame:
        """The document in the frame."""
        return self.tab.page.frames[1]

    def show(self, game: str, state: State, sees: str | None = None) -> None:
        """Bring the frame into a state. `sees`: the text to wait for, if not English."""
        self.matches += 1
        now = self.tab.page.evaluate("Date.now()")
        show(self.server, game, state, self.matches, now)
        self.tab.sees(state.sees if sees is None else sees)
        if sees == "" and state.before is None:
            status = "playing" if state.ended is None else "ended"
            self.tab.page.wait_for_function(_ARRIVED, arg=[f"mat_{self.matches}", status])
        for selector in state.press:
            self.tab.frame.locator(selector).click()
        if state.name == "resigning":
            self.tab.frame.locator(".card .out:enabled").wait_for()
        if state.name == "promotion":
            self.tab.frame.locator(".pick").wait_for()

    def leave(self, state: State) -> None:
        """End the match, and forget it."""
        if state.press:
            self.tab.page.keyboard.press("Escape")
        if state.before is None and state.ended is None:
            ended = {"outcome": "ended", "result": "lost", "endReason": "resigned"}
            message = {"type": "ended", "matchId": f"mat_{self.matches}", "seq": 99, **ended}
            self.server.send(message)

    def says(self, text: str) -> None:
        """Let the host page send a message to the frame, given as JavaScript."""
        self.tab.page.evaluate(
            f"() => document.querySelector('iframe').contentWindow.postMessage({text}, '*')"
        )


@contextmanager
def showing(
    browser: Browser,
    service: str,
    partner_id: str,
    site: str,
    game: str,
    name: str = LONG,
    **how: Any,
) -> Iterator[Shown]:
    """Open a frame of a player with a name, against a scripted server, for a block."""
    how = {"locale": "en-US", "reduced_motion": "reduce", **how}
    context = browser.new_context(**how)
    tab = Tab(context.new_page())
    server = ScriptedServer(tab.page)
    server.session |= {"displayName": name, "gameId": game}
    server.session["theme"] = {"displayName": "A Site With Quite A Long Name"}
    tab.embed(site, service, f"{service}/embed/test/{partner_id}", "token", "100vh")
    server.wait("join")
    shown = Shown(tab, server)
    shown.says("{ type: 'pgs.host', again: true }")
    yield shown
    context.close()
