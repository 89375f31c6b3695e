"""The live frame in a live page, both behind TLS; and what keeps the pages of one environment out of the frames of the other."""

import base64
import hashlib
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import trio
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, Page

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from pgs.serve import running
from tests.browser.chromium import PATIENCE_MS, Tab, launched
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, make_tiers, seat_body
from tests.journeys.process import free_port
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

SERVICE, SHOP = "games.example", "shop.example"
ELSEWHERE: Final = "https://elsewhere.example"


class Front:
    """What stands before a service: it ends TLS for one name, and passes everything on to a port of loopback."""

    def __init__(self, authority: trustme.CA, host: str, to: int) -> None:
        self._to = to
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued = authority.issue_cert(host)
        # The root itself goes along, so that the browser can tell it by its key.
        chain = b"".join(blob.bytes() for blob in (*issued.cert_chain_pems, authority.cert_pem))
        with (
            issued.private_key_pem.tempfile() as key,
            trustme.Blob(chain).tempfile() as certificates,
        ):
            self._context.load_cert_chain(certificates, key)
        self._up = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))
        self._thread.start()
        assert self._up.wait(10)
        self.origin = f"https://{host}:{self._port}"

    def stop(self) -> None:
        """Let everybody go."""
        trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
        self._thread.join()

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as self._scope:
            async with trio.open_nursery() as nursery:
                (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
                self._port: int = listener.socket.getsockname()[1]
                self._up.set()
                await trio.serve_listeners(
                    self._pass_on,
                    [trio.SSLListener(listener, self._context)],
                    handler_nursery=nursery,
                )

    async def _pass_on(self, outer: trio.abc.Stream) -> None:
        try:
            async with (
                outer,
                await trio.open_tcp_stream("127.0.0.1", self._to) as inner,
                trio.open_nursery() as nursery,
            ):
                nursery.start_soon(_pump, outer, inner, nursery.cancel_scope)
                nursery.start_soon(_pump, inner, outer, nursery.cancel_scope)
        except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass


async def _pump(source: trio.abc.Stream, sink: trio.abc.Stream, both: trio.CancelScope) -> None:
    while data := await source.receive_some(65536):
        await sink.send_all(data)
    both.cancel()


class Fronted(SharedService):
    """A service that says of itself that it is somewhere else, which is where its front is."""

    async def _serve(self) -> None:
        self._leave = trio.Event()
        self._token = trio.lowlevel.current_trio_token()
        async with running(self._config) as service:
            await make_tiers(service.core)
            self.core, self._base_url, self._internal_url = (
                service.core,
                service.listening,
                service.internal_url,
            )
            self._up.set()
            await self._leave.wait()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """The tests' own root."""
    return trustme.CA()


@pytest.fixture(scope="module")
def browser(authority: trustme.CA) -> Iterator[Browser]:
    """A Chromium that knows two names, and trusts the tests' root and no other."""
    key = x509.load_pem_x509_certificate(authority.cert_pem.bytes()).public_key()
    digest = hashlib.sha256(
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).digest()
    with launched(
        f"--ignore-certificate-errors-spki-list={base64.b64encode(digest).decode()}",
        hosts=(SERVICE, SHOP),
    ) as running_browser:
        yield running_browser


@contextmanager
def fronting(authority: trustme.CA, host: str, to: int) -> Iterator[str]:
    """A front for a block; gives its origin."""
    front = Front(authority, host, to)
    try:
        yield front.origin
    finally:
        front.stop()


@pytest.fixture(scope="module")
def shop(authority: trustme.CA, site: str) -> Iterator[str]:
    """The partner's site behind TLS: its origin."""
    with fronting(authority, SHOP, int(site.rpartition(":")[2])) as origin:
        yield origin


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA
) -> Iterator[SharedService]:
    port = free_port()
    with fronting(authority, SERVICE, port) as origin:
        shared = Fronted(
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
    """Open the frame of an environment in the site's page; return the service's origin."""
    body = {"gameId": BOTH, "playerId": player, "displayName": player.title()}
    session = ok(service.client.call("POST", "/partner/sessions", partner.keys[environment], body))
    src: str = session["embedUrl"]
    origin = src.partition("/embed/")[0]
    assert src == f"{origin}/embed/{'' if environment == 'live' else 'test/'}{partner.partner_id}"
    tab.embed(site, origin, src, session["sessionToken"])
    return origin


def _won(service: SharedService, partner: Partner) -> dict[str, Any]:
    """What the live feed says of each player, once the money is recorded."""
    for _ in range(int(PATIENCE_MS / 100)):
        rows = ok(service.client.call("GET", "/partner/results", partner.live))["results"]
        if rows and all("payoutUsdCents" in row for row in rows):
            return {row["playerId"]: (row["result"], row["payoutUsdCents"]) for row in rows}
        time.sleep(0.1)
    raise AssertionError("the match's money was not recorded")


def test_a_live_page_embeds_the_live_frame_over_tls(
    service: SharedService, shop: str, tabs: list[Tab]
) -> None:
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, "live", shop))
    alice, bob = tabs
    for player in ("alice", "bob"):
        ok(service.client.call("POST", "/partner/matches", partner.live, seat_body(player, player)))
    origin = _open(service, partner, "live", shop, alice, "alice")
    assert origin.startswith(f"https://{SERVICE}:")
    assert _open(service, partner, "live", shop, bob, "bob") == origin
    alice.sees("Your turn")
    bob.sees("Alice to move")
    for mover, other, cell in (
        (alice, bob, "a1"),
        (bob, alice, "a2"),
        (alice, bob, "b1"),
        (bob, alice, "b2"),
        (alice, bob, "c1"),
    ):
        mover.cell(cell).click()
        other.cell(cell).locator(".mark").wait_for()
    alice.sees("You won.")
    bob.sees("You lost.")
    assert _won(service, partner) == {"alice": ("won", 180), "bob": ("lost", 0)}
    for tab in tabs:
        assert tab.faults == []
        assert tab.origins == {shop, origin}
        assert tab.page.evaluate("isSecureContext")


def test_a_registered_test_page_embeds_the_test_frame_over_tls(
    service: SharedService, shop: str, tabs: list[Tab]
) -> None:
    partner = service.partner()
    service.account(partner, AddOrigin(PLATFORM, "test", shop))
    _open(service, partner, "test", shop, tabs[0], "alice")
    tabs[0].sees("Waiting for an opponent")
    assert tabs[0].faults == []


@pytest.mark.parametrize("framed", ["live", "test"])
@pytest.mark.parametrize(
    "registered", ["for the other environment", "nowhere", "with another partner"]
)
def test_no_page_but_those_of_its_environment_embeds_a_frame(
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
    _wait_for_fault(tab.page, tab)
    assert any("frame-ancestors" in fault and ELSEWHERE in fault for fault in tab.faults), (
        tab.faults
    )
    tab.page.wait_for_timeout(500)
    assert tab.told() == []
    assert tab.frame.locator(".headline").count() == 0
    # The very same page may embed the frame that it is registered for.
    if registered == "for the other environment":
        _open(service, partner, other, shop, tabs[1], "alice")
        tabs[1].sees("Waiting for an opponent")


def _wait_for_fault(page: Page, tab: Tab) -> None:
    for _ in range(int(PATIENCE_MS / 50)):
        if tab.faults:
            return
        page.wait_for_timeout(50)


def test_the_browser_trusts_nobody_else(browser: Browser, tmp_path: Path, site: str) -> None:
    with fronting(trustme.CA(), SHOP, int(site.rpartition(":")[2])) as origin:
        page = browser.new_page()
        with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
            page.goto(origin)
        page.close()
