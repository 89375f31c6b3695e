"""A service that stops and starts again while two players play."""

import socket
from pathlib import Path

import pytest

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.chromium import Tab
from tests.browser.test_play import begin
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser


def test_a_match_goes_on_after_a_restart_of_the_service(
    tmp_path: Path, site: str, tabs: list[Tab]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    first = SharedService(tmp_path, listen=listen)
    first.start()
    try:
        partner = first.partner()
        first.account(partner, AddOrigin(PLATFORM, "test", site))
        alice, bob = begin(first, partner, site, tabs)
        alice.cell("b2").click()
        bob.sees("Your turn")
    finally:
        first.stop()
    for tab in (alice, bob):
        tab.sees("Reconnecting")
    second = SharedService(tmp_path, listen=listen)
    second.start()
    try:
        bob.sees("Your turn")
        alice.sees("is thinking")
        bob.cell("a1").click()
        alice.sees("Your turn")
        assert alice.cell("a1").get_attribute("aria-label") == "a1, O, last move"
        assert {
            message["reason"] for tab in (alice, bob) for message in tab.messages("pgs.error")
        } <= {
            "connection_lost",
            "service_unavailable",
        }
    finally:
        second.stop()
