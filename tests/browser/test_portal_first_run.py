"""A new admin's way from the invite to a decided match, all of it inside the portal."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pgs.domain.totp import code_at
from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.demo import running_demo
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

CLICKING_MAX_S = 180.0
"""Seconds that the way may take."""

_BESIDE = """row => {
  const text = document.createRange();
  text.selectNodeContents(row.lastChild);
  return text.getBoundingClientRect().top < row.firstChild.getBoundingClientRect().bottom;
}"""
"""Whether the text of a row begins beside its mark, not below."""


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A demo, at which the operator has opened an account for somebody new."""
    with running_demo(tmp_path) as running:
        command = ["partner", "create", "fresh", "--name", "Fresh Games", "--json"]
        options = ["--admin-email", "developer@demo.example", "--data", "demo-data"]
        made = subprocess.run(
            [sys.executable, "-m", "pgs", *command, *options],
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        assert json.loads(made.stdout)["partnerId"] == "fresh"
        yield running | {"inviteUrl": json.loads(made.stdout)["inviteUrl"]}


def _connect_and_take_the_key(new: Visitor) -> None:
    page = new.page
    page.get_by_role("heading", name="Connect an authenticator").wait_for()
    secret = page.locator("code[data-secret]").get_attribute("data-secret")
    assert secret is not None
    assert axe_faults_in_both_schemes(page) == []
    page.get_by_label("Six digits from the app").fill(code_at(secret, int(time.time())))
    page.get_by_role("heading", name="Your first key").wait_for()
    new.press("Make the test key")  # no second code: the first still counts
    key = page.locator(".secret code").inner_text()
    assert page.get_by_role("button", name="Go on to the first match").is_disabled()
    assert page.get_by_role("button", name="Do this later").count() == 0
    assert page.get_by_role("button", name="Sign out").count() == 0
    assert new.asks_before_leaving()
    assert axe_faults_in_both_schemes(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    waits = page.get_by_role("status").filter(has_text="Waits for its first call.")
    assert waits.evaluate(_BESIDE)
    page.set_viewport_size({"width": 1280, "height": 720})
    assert new.status_of(key) == 200
    page.get_by_text("Its first call has arrived.").wait_for()
    page.get_by_label("I have stored it").check()
    page.get_by_role("button", name="Do this later").wait_for()
    assert not new.asks_before_leaving()
    new.press("Go on to the first match")


def test_a_new_admin_goes_from_the_invite_to_a_decided_match(
    browser: Browser, demo: dict[str, str]
) -> None:
    new = Visitor(browser, demo)
    page = new.page
    began = time.monotonic()
    page.goto(demo["inviteUrl"])
    new.sign_in("Devi Demo")
    page.get_by_role("heading", name="Fresh Games invites you").wait_for()
    new.press("Accept and go on")
    _connect_and_take_the_key(new)

    new.stands_at("Home")
    page.get_by_text("Three steps are left before your first test match.").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    new.press("Turn on Tic-tac-toe")
    page.get_by_text("Two steps are left before your first test match.").wait_for()
    page.get_by_role("link", name="Read and agree").click()
    new.stands_at("Rake terms")
    page.get_by_label("I have read it").check()
    new.press("Agree to version 1")
    page.get_by_text("Version 1 was agreed").first.wait_for()
    page.get_by_role("link", name="Next: Play a first match").click()

    new.stands_at("Try it")
    new.press("Seat two test players")
    frames = [page.frame_locator("main iframe").nth(number) for number in (0, 1)]
    for frame in frames:
        frame.locator(".board").wait_for()
    first = 0 if "Your turn" in frames[0].locator(".headline").inner_text() else 1
    for ply, cell in enumerate(("a1", "a2", "b1", "b2", "c1")):
        frames[(first + ply) % 2].locator(f'[data-cell="{cell}"]').click()
        frames[(first + ply + 1) % 2].locator(f'[data-cell="{cell}"] .mark').wait_for()
    page.locator(".answer", has_text="Done:").wait_for()
    assert time.monotonic() - began < CLICKING_MAX_S
    new.open("/portal/test")
    page.get_by_text("Everything is set up in test.").wait_for()
    # The browser logs the 403 that the person got before there was an account.
    assert [error for error in new.tab.errors if "403" not in error] == []
    assert new.tab.origins == {demo["baseUrl"], demo["issuer"]}
    new.close()
