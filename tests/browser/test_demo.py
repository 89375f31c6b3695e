"""The demo partner's page in a real browser, served by `pgs demo` as a user starts it."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page

from tests.browser.chromium import Tab

pytestmark = pytest.mark.browser


@contextmanager
def _demo(folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """Run a demo for a block. Yields the contents of its `demo.json`."""
    command = [sys.executable, "-m", "pgs", "demo", "--port", "0", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            assert any("Ctrl-C" in line for line in process.stdout), "the demo has not started"
            yield json.loads((folder / "demo-data" / "demo.json").read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
    assert process.returncode == 0
    assert "The demo has ended." in rest


def _open(browser: Browser, demo: dict[str, str]) -> Tab:
    tab = Tab(browser.new_context(viewport={"width": 1200, "height": 1250}).new_page())
    tab.page.goto(demo["siteUrl"])
    return tab


def _frame(page: Page, number: int) -> FrameLocator:
    return page.frame_locator("main iframe").nth(number)


def _begin(page: Page, game: str) -> None:
    page.get_by_label("Game").select_option(label=game)
    page.get_by_role("button", name="New match").click()


def test_a_match_is_played_in_both_frames_and_the_feed_is_shown(
    browser: Browser, tmp_path: Path
) -> None:
    with _demo(tmp_path) as demo:
        tab = _open(browser, demo)
        page = tab.page
        page.locator(
            "#feed tbody tr", has_text="player-1"
        ).first.wait_for()  # the rows that the demo starts with
        _begin(page, "Tic-tac-toe")
        for turn, cell in enumerate(("a1", "a2", "b1", "b2", "c1")):
            _frame(page, turn % 2).locator(f'[data-cell="{cell}"]').click()
            for side in (0, 1):
                _frame(page, side).locator(f'[data-cell="{cell}"] .mark').wait_for()
        _frame(page, 0).locator(".headline", has_text="You won.").wait_for()
        _frame(page, 1).locator(".headline", has_text="You lost.").wait_for()
        match_id = page.locator("main").get_attribute("data-match")
        for player, payout in (("site-1", "900"), ("site-2", "0")):
            row = page.locator(f'tr[data-match="{match_id}"][data-player="{player}"]')
            row.get_by_role("cell").nth(7).get_by_text(
                payout, exact=True
            ).wait_for()  # the payout is recorded
            assert row.get_by_role("cell").nth(4).inner_text() == (
                "won" if player == "site-1" else "lost"
            )
        page.locator("#nudges li", has_text="verified").nth(2).wait_for()

        _begin(page, "Reversi")
        _frame(page, 0).locator('[data-cell="d3"]').wait_for()
        page.reload()  # the match goes on
        _frame(page, 0).locator(".headline", has_text="Your turn").wait_for()
        _frame(page, 1).locator(".headline", has_text="Player one to move").wait_for()
        assert tab.errors == []
        assert tab.origins == {demo["siteUrl"], demo["baseUrl"]}
        page.context.close()


def test_with_one_bot_a_person_plays_against_it(browser: Browser, tmp_path: Path) -> None:
    with _demo(tmp_path, "--bots", "1") as demo:
        tab = _open(browser, demo)
        _begin(tab.page, "Connect Four")
        _frame(tab.page, 0).locator('[data-cell="d6"]').click()
        _frame(tab.page, 0).locator(".headline", has_text="Your turn").wait_for()
        assert _frame(tab.page, 0).locator(".cell > *").count() == 2
        assert tab.page.locator("main iframe").count() == 1
        assert tab.errors == []
        assert tab.origins == {demo["siteUrl"], demo["baseUrl"]}
        assert re.search("against a bot", tab.page.locator("#status").inner_text())
        tab.page.context.close()
