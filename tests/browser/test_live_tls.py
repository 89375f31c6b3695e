"""Frames and host pages behind TLS, and which pages may embed the frame of which environment."""

import base64
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, Page

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from tests.browser.chromium import WAIT_MAX_MS, Tab, running_chromium, win_with_the_first_row
from tests.browser.tls_proxy import tls_proxy
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, seat_body
from tests.journeys.process import free_port
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

SERVICE, SHOP = "games.example", "shop.example"
ELSEWHERE: Final = "https://elsewhere.example"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A certificate authority for the tests."""
    return trustme.CA()


@pytest.fixture(scope="module")
def browser(authority: trustme.CA) -> Iterator[Browser]:
    """A Chromium that resolves two host names, and trusts the tests' authority only."""
    key = x509.load_pem_x509_certificate(authority.cert_pem.bytes()).public_key()
    digest = hashlib.sha256(
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).digest()
    with running_chromium(
        f"--ignore-certificate-errors-spki-list={base64.b64encode(digest).decode()}",
        hosts=(SERVICE, SHOP),
    ) as running_browser:
        yield running_browser


@pytest.fixture(scope="module")
def shop(authority: trustme.CA, site: str) -> Iterator[str]:
    """The origin of the partner's site behind TLS."""
    with tls_proxy(authority, SHOP, int(site.rpartition(":")[2])) as origin:
        yield origin


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA
) -> Iterator[SharedService]:
    """A service behind TLS."""
    port = free_port()
    with tls_proxy(authority, SERVICE, port) as origin:
        shared = SharedService(
            tmp_path_factory.mktemp("live"), listen=f"127.0.0.1:{port}", base_url=origin
        )
        shared.start()
        yield shared
        shared.stop()


def _open(
    service: SharedService,
    partner: Partner,
    environment: Environment,
    site: str,
    tab: Tab,
    player: str,
) -> str:
    """Open the frame of an environment in the site's page. Return the service's origin."""
    body = {"gameId": BOTH, "playerId": player, "displayName": player.title()}
    session = ok(service.client.call("POST", "/partner/sessions", partner.keys[environment], body))
    embed_url: str = session["embedUrl"]
    origin = embed_url.partition("/embed/")[0]
    assert (
        embed_url
        == f"{origin}/embed/{'' if environment == 'live' else 'test/'}{partner.partner_id}"
    )
    tab.embed(site, origin, embed_url, session["sessionToken"])
    return origin


def _payouts(service: SharedService, partner: Partner) -> dict[str, Any]:
    """Return result and payout of each player in the live feed, once the money is recorded."""
    for _ in range(int(WAIT_MAX_MS / 100)):
        rows = ok(service.client.call("GET", "/partner/results", partner.live))["results"]
        if rows and all("payoutUsdCents" in row for row in rows):
            return {row["playerId"]: (row["result"], row["payoutUsdCents"]) for row in rows}
        time.sleep(0.1)
    raise AssertionError("the match's money was not recorded")


def _begins(service: SharedService, partner: Partner) -> str:
    """Return the player who moves first in the live match, once there is one."""
    for _ in range(int(WAIT_MAX_MS / 100)):
        rows = ok(service.client.call("GET", "/partner/results", partner.live))["results"]
        if rows:
            path = f"/partner/matches/{rows[0]['matchId']}"
            match = ok(service.client.call("GET", path, partner.live))
            return str(match["pairing"]["begins"])
        time.sleep(0.1)
    raise AssertionError("nobody was paired")


def test_a_live_page_embeds_the_live_frame_over_tls(
    service: SharedService, shop: str, tabs: list[Tab]
) -> None:
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, "live", shop))
    for player in ("alice", "bob"):
        ok(service.client.call("POST", "/partner/matches", partner.live, seat_body(player, player)))
    origin = _open(service, partner, "live", shop, tabs[0], "alice")
    assert origin.startswith(f"https://{SERVICE}:")
    assert _open(service, partner, "live", shop, tabs[1], "bob") == origin
    first = _begins(service, partner)
    second = "bob" if first == "alice" else "alice"
    alice, bob = tabs if first == "alice" else reversed(tabs)
    alice.sees("Your turn")
    bob.sees("is thinking")
    win_with_the_first_row(alice, bob)
    assert _payouts(service, partner) == {first: ("won", 180), second: ("lost", 0)}
    for tab in tabs:
        assert tab.errors == []
        assert tab.origins == {shop, origin}
        assert tab.page.evaluate("isSecureContext")


def test_a_registered_test_page_embeds_the_test_frame_over_tls(
    service: SharedService, shop: str, tabs: list[Tab]
) -> None:
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, "test", shop))
    _open(service, partner, "test", shop, tabs[0], "alice")
    tabs[0].sees("No seat yet")
    assert tabs[0].errors == []


@pytest.mark.parametrize("framed", ["live", "test"])
@pytest.mark.parametrize(
    "registered", ["for the other environment", "nowhere", "with another partner"]
)
def test_only_a_page_registered_for_its_environment_embeds_a_frame(
    service: SharedService, shop: str, tabs: list[Tab], framed: Environment, registered: str
) -> None:
    other: Environment = "test" if framed == "live" else "live"
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, framed, ELSEWHERE))
    if registered == "for the other environment":
        service.account(partner, AddOrigin(PLATFORM, other, shop))
    elif registered == "with another partner":
        service.account(service.partner(), AddOrigin(PLATFORM, framed, shop))
    tab = tabs[0]
    _open(service, partner, framed, shop, tab, "alice")
    _wait_for_error(tab.page, tab)
    assert any("frame-ancestors" in error and ELSEWHERE in error for error in tab.errors), (
        tab.errors
    )
    tab.page.wait_for_timeout(500)
    assert tab.messages() == []
    assert tab.frame.locator(".headline").count() == 0
    # The same page may embed the frame of the environment for which it is registered.
    if registered == "for the other environment":
        _open(service, partner, other, shop, tabs[1], "alice")
        tabs[1].sees("No seat yet")


def _wait_for_error(page: Page, tab: Tab) -> None:
    for _ in range(int(WAIT_MAX_MS / 50)):
        if tab.errors:
            return
        page.wait_for_timeout(50)


def test_the_browser_trusts_no_other_authority(browser: Browser, tmp_path: Path, site: str) -> None:
    with tls_proxy(trustme.CA(), SHOP, int(site.rpartition(":")[2])) as origin:
        page = browser.new_page()
        with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
            page.goto(origin)
        page.close()
