"""A running `pgs demo` for the tests in this folder, and its page in a browser."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpcore
from playwright.sync_api import Browser, FrameLocator

from tests.browser.chromium import Tab

_LISTEN = """addEventListener("message", (event) => (window.told ??= []).push(event.data));"""

_PLIES = """([matchId, ply]) => (window.told ?? []).filter(
  (m) => m.type === "pgs.state" && m.matchId === matchId && m.ply === ply).length >= 2"""


@contextmanager
def running_demo(
    folder: Path, *options: str, launch: Sequence[str] = ("-m", "pgs")
) -> Iterator[dict[str, str]]:
    """Run a demo for a block. Yields the contents of its `demo.json`.

    `launch` is what Python runs; its last argument is followed by those of the demo.
    """
    command = [sys.executable, *launch, "demo", "--port", "0", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        rest: list[str] = []
        drain = threading.Thread(target=rest.extend, args=(process.stdout,))
        try:
            assert any("Ctrl-C" in line for line in process.stdout), "the demo has not started"
            # The demo prints every nudge. It would wait for ever if nobody read them.
            drain.start()
            yield json.loads((folder / "demo-data" / "demo.json").read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            if drain.ident is not None:
                drain.join()
    assert process.returncode == 0
    assert any("The demo has ended." in line for line in rest)


class DemoTab(Tab):
    """A tab with the page of the demo's partner."""

    def __init__(self, browser: Browser, demo: dict[str, str], **how: Any) -> None:
        viewport = {"width": 1280, "height": 1000}
        context = browser.new_context(**{"viewport": viewport, "reduced_motion": "reduce", **how})
        super().__init__(context.new_page())
        self.demo = demo
        self.page.add_init_script(_LISTEN)
        self.page.goto(demo["siteUrl"])

    def player(self, number: int) -> FrameLocator:
        """Return a player's frame, counted from 0."""
        return self.page.frame_locator("main iframe").nth(number)

    @property
    def match_id(self) -> str:
        """The match that the page shows, or nothing."""
        return self.page.locator("main").get_attribute("data-match") or ""

    def begin(self, game: str) -> str:
        """Begin a match when none is running; return its id."""
        before = self.match_id
        self.page.get_by_label("Game", exact=True).select_option(label=game)
        self.page.get_by_role("button", name="New match").click()
        return self.shows_another_than(before)

    def shows_another_than(self, match_id: str) -> str:
        """Wait until the page shows another match; return its id."""
        self.page.wait_for_function(
            "(before) => (document.querySelector('main').dataset.match ?? before) !== before",
            arg=match_id,
        )
        return self.match_id

    def both_see(self, match_id: str, ply: int) -> None:
        """Wait until both frames have told the page of this many moves."""
        self.page.wait_for_function(_PLIES, arg=[match_id, ply])

    def row(self, match_id: str, player: str, *texts: str) -> None:
        """Wait for a player's row of the feed with these texts."""
        row = self.page.locator(f'tr[data-match="{match_id}"][data-player="{player}"]')
        for text in texts:
            row.get_by_text(text, exact=True).first.wait_for()

    def decide(self, match_id: str) -> int:
        """End a match with the test key. Returns the answer's status."""
        answer = httpcore.request(
            "POST",
            f"{self.demo['baseUrl']}/partner/test/matches/{match_id}/decide",
            headers={"Authorization": f"Bearer {self.demo['testKey']}"},
            content=json.dumps({"outcome": "ended", "winnerPlayerId": "site-1"}).encode(),
        )
        return answer.status

    def close(self) -> None:
        """End the match that the page shows, unless it has ended, and close the tab."""
        if self.match_id:
            assert self.decide(self.match_id) in (200, 409)
        self.page.context.close()
