"""The demo partner's page in a real browser, with a bot on the second side."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.demo import DemoTab, running_demo

pytestmark = pytest.mark.browser


def test_with_one_bot_a_person_plays_against_it(browser: Browser, tmp_path: Path) -> None:
    with running_demo(tmp_path, "--bots", "1") as demo:
        tab = DemoTab(browser, demo)
        tab.page.get_by_role("button", name="New match").wait_for()
        match_id = tab.begin("Connect Four")
        tab.player(0).locator('[data-cell="d6"]').click()
        tab.page.wait_for_function(
            "(matchId) => told.some((m) => m.matchId === matchId && m.ply >= 2)", arg=match_id
        )
        assert tab.page.locator("main iframe").count() == 1
        assert tab.errors == []
        assert tab.origins == {demo["siteUrl"], demo["baseUrl"]}
        assert "against a bot" in tab.page.locator("#status").inner_text()
        tab.page.context.close()
