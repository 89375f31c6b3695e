"""A service that is killed while two players play, and started again."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.settings import AddOrigin
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.members import PLATFORM
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.browser.chromium import WAIT_MAX_MS, Tab
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, account, make_partner, make_tiers, seat_body
from tests.journeys.process import Process

pytestmark = pytest.mark.browser


async def _prepare(folder: Path, site: str) -> Partner:
    """Create a data folder with a partner, and register the site's origin for its test frame."""
    async with open_core(Config(data_dir=folder)) as core:
        await make_tiers(core)
        partner = await make_partner(core, "acme")
        await account(core, partner.partner_id, AddOrigin(PLATFORM, "test", site))
        return partner


def _seat(process: Process, partner: Partner, tab: Tab, player: str, site: str) -> None:
    """Take a seat for a player, whose frame opens in a tab."""
    body = {"gameId": BOTH, "playerId": player, "displayName": player.title()}
    session = ok(process.client.call("POST", "/partner/sessions", partner.test, body))
    ok(process.client.call("POST", "/partner/matches", partner.test, seat_body(player, player)))
    tab.embed(site, process.base_url, session["embedUrl"], session["sessionToken"])


def _outcome(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["outcome"], row["result"], row["endReason"], row["payoutUsdCents"]


def _rows(process: Process, partner: Partner) -> list[dict[str, Any]]:
    """Return the rows of the feed, once the money is recorded."""
    for _ in range(int(WAIT_MAX_MS / 100)):
        rows: list[dict[str, Any]] = ok(
            process.client.call("GET", "/partner/results", partner.test)
        )["results"]
        if rows and all("payoutUsdCents" in row for row in rows):
            return rows
        time.sleep(0.1)
    raise AssertionError("the match's money was not recorded")


def _ledger_is_sound(folder: Path) -> bool:
    """Return whether a stopped service's ledger adds up. Call it in a thread without asyncio."""
    database = SqliteDatabase(folder)
    with ThreadPoolExecutor(1) as elsewhere:
        report = elsewhere.submit(lambda: trio.run(check_ledger, database.reader)).result()
    database.close()
    return report.sound


def test_a_match_goes_on_after_kills_of_the_service_and_pays_out_once(
    tmp_path: Path, site: str, tabs: list[Tab]
) -> None:
    folder = tmp_path / "data"
    with ThreadPoolExecutor(1) as elsewhere:  # this thread runs the browser's asyncio loop
        partner = elsewhere.submit(trio.run, partial(_prepare, folder, site)).result()
    alice, bob = tabs
    with Process(folder) as process:
        _seat(process, partner, alice, "alice", site)
        _seat(process, partner, bob, "bob", site)
        alice.sees("Your turn")
        bob.sees("is thinking")
        alice.cell("a1").click()
        bob.sees("Your turn")

        process.end()  # SIGKILL
        for tab in tabs:
            tab.sees("Reconnecting")
        process.start()
        bob.sees("Your turn")
        alice.sees("is thinking")
        assert bob.cell("a1").get_attribute("aria-label") == "a1, X, last move"

        bob.cell("a2").click()
        process.end()  # during a move: the service has played it, or the frame sends it again
        process.start()
        alice.sees("Your turn")
        # "last move" may be missing, because a snapshot does not say which move was the last.
        assert (alice.cell("a2").get_attribute("aria-label") or "").startswith("a2, O")
        for mover, other, cell in ((alice, bob, "b1"), (bob, alice, "b2"), (alice, bob, "c1")):
            mover.cell(cell).click()
            other.cell(cell).locator(".mark").wait_for()
        alice.sees("You won")
        bob.sees("You lost")

        assert {row["playerId"]: _outcome(row) for row in _rows(process, partner)} == {
            "alice": ("ended", "won", "completed", 180),
            "bob": ("ended", "lost", "completed", 0),
        }
        for tab in tabs:
            assert len(tab.messages("pgs.ended")) == 1
            assert {message["reason"] for message in tab.messages("pgs.error")} <= {
                "connection_lost",
                "service_unavailable",
            }
        assert process.stop()[0] == 0
    assert _ledger_is_sound(folder)
