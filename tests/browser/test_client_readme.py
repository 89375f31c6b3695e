"""The examples for pages in the README of the JavaScript client, as bundled pages, with React."""

import subprocess
from pathlib import Path

import pytest

from tests.browser.chromium import Tab
from tests.clients.node import ENVIRONMENT, JS
from tests.clients.test_readmes import JAVASCRIPT, blocks
from tests.conventions.tree import ROOT
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, seat_body
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

_SHOW = """
import { createRoot } from "react-dom/client";
import { Play } from "./example";

createRoot(document.getElementById("game")!).render(<Play />);
"""
_AS_RELEASED = "window.process = { env: { NODE_ENV: 'production' } };"


def _bundled(folder: Path, name: str) -> str:
    """Return a page's program with everything that it imports."""
    modules = folder / "node_modules"
    if not modules.exists():
        subprocess.run([ROOT / "scripts" / "clients"], check=True, env=ENVIRONMENT)
        modules.mkdir()
        (modules / "pgs-client").symlink_to(JS)
        for package in ("react", "react-dom"):
            (modules / package).symlink_to(JS / "node_modules" / package)
    bundler = ROOT / "web" / "node_modules" / ".bin" / "rolldown"
    program = folder / "page.js"
    command = [str(bundler), name, "-o", program.name]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return program.read_text("utf-8")


def _open(
    service: SharedService, partner: Partner, site: str, tab: Tab, player: str, program: str
) -> list[str]:
    """Run a program as the player's page; return the list into which its log goes."""
    body = {"gameId": BOTH, "playerId": player}
    minted = ok(service.client.call("POST", "/partner/sessions", partner.test, body))
    answer = {name: minted[name] for name in ("embedUrl", "sessionToken")}
    logged: list[str] = []
    tab.page.on("console", lambda message: logged.append(message.text))
    tab.page.route("**/play/session", lambda route: route.fulfill(json=answer))
    tab.page.goto(site)
    tab.page.set_content('<!doctype html><main id="game" style="height: 720px"></main>')
    tab.page.add_script_tag(content=_AS_RELEASED)
    tab.page.add_script_tag(
        content=program.replace("https://games.example", service.client.base_url), type="module"
    )
    return logged


def test_both_examples_for_pages_show_the_match_and_tell_its_end(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab], tmp_path: Path
) -> None:
    (tmp_path / "plain.ts").write_text(blocks(JAVASCRIPT, "ts"), encoding="utf-8")
    (tmp_path / "example.tsx").write_text(blocks(JAVASCRIPT, "tsx"), encoding="utf-8")
    (tmp_path / "react.tsx").write_text(_SHOW, encoding="utf-8")
    _, seat = (
        ok(service.client.call("POST", "/partner/matches", partner.test, seat_body(player, player)))
        for player in ("alice", "bob")
    )
    match_id = seat["matchId"]
    logs = []
    for tab, player, name in zip(tabs, ("alice", "bob"), ("plain.ts", "react.tsx"), strict=True):
        logs.append(_open(service, partner, site, tab, player, _bundled(tmp_path, name)))
        tab.frame.locator(".board").wait_for()
    decision = {"outcome": "ended", "winnerPlayerId": "alice"}
    path = f"/partner/test/matches/{match_id}/decide"
    ok(service.client.call("POST", path, partner.test, decision))
    tabs[0].sees("You won")
    tabs[1].sees("You lost")
    assert f"{match_id} won" in logs[0]
    assert "lost" in logs[1]
