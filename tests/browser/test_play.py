"""Two players in two browsers, through the frame in a partner's page, against the whole service."""

import re

import pytest
from playwright.sync_api import Route

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.chromium import Tab
from tests.conventions.tree import ROOT
from tests.journeys.client import ok
from tests.journeys.partners import BOTH, Partner, seat_body
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser


def _mint(service: SharedService, partner: Partner, player: str) -> tuple[str, str]:
    session = ok(
        service.client.call(
            "POST",
            "/partner/sessions",
            partner.test,
            {"gameId": BOTH, "playerId": player, "displayName": player.title()},
        )
    )
    return session["embedUrl"], session["sessionToken"]


def _seat(service: SharedService, partner: Partner, player: str, key: str | None = None) -> None:
    ok(
        service.client.call(
            "POST", "/partner/matches", partner.test, seat_body(player, key or player)
        )
    )


def _open(
    service: SharedService,
    partner: Partner,
    site: str,
    tab: Tab,
    player: str,
    height: str = "720px",
) -> None:
    tab.embed(site, service.client.base_url, *_mint(service, partner, player), height)


def begin(service: SharedService, partner: Partner, site: str, tabs: list[Tab]) -> tuple[Tab, Tab]:
    """Both players at a board; the one that begins first."""
    for tab, player in zip(tabs, ("alice", "bob"), strict=True):
        _seat(service, partner, player)
        _open(service, partner, site, tab, player)
    for tab in tabs:
        tab.frame.locator(".board").wait_for()
    alice, bob = tabs
    alice.sees("Your turn")
    bob.sees("Alice to move")
    return alice, bob


def _check_clean(service: SharedService, site: str, *tabs: Tab) -> None:
    for tab in tabs:
        assert tab.faults == []
        assert tab.origins <= {site, service.client.base_url}


def test_two_players_play_a_match_to_its_end(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = begin(service, partner, site, tabs)
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
    assert [message["result"] for message in alice.told("pgs.ended")] == ["won"]
    (ended,) = bob.told("pgs.ended")
    assert (ended["result"], ended["outcome"], ended["endReason"]) == ("lost", "ended", "completed")
    assert alice.told()[0] == {"type": "pgs.ready"}
    assert [
        message["ply"] for message in alice.told("pgs.state") if message["status"] == "started"
    ] == [0, 1, 2, 3, 4, 5]
    assert alice.told("pgs.state")[-1]["status"] == "ended"
    _check_clean(service, site, alice, bob)


def test_a_player_waits_in_the_frame_until_somebody_comes(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = tabs
    _open(service, partner, site, alice, "alice")
    alice.sees("Waiting for an opponent")
    _seat(service, partner, "alice")
    _seat(service, partner, "bob")
    alice.sees("Your turn")
    alice.hears("You play X")
    _open(service, partner, site, bob, "bob")
    alice.hears("Bob is online")
    alice.frame.locator(".clock").first.wait_for()
    _check_clean(service, site, alice, bob)


def test_a_match_is_played_with_the_keyboard_alone(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = begin(service, partner, site, tabs)
    alice.page.keyboard.press("Tab")
    alice.focuses('[data-cell="b2"]')
    for key, cell in (
        ("ArrowUp", "b1"),
        ("ArrowUp", "b1"),
        ("ArrowLeft", "a1"),
        ("End", "c1"),
        ("Home", "a1"),
        ("ArrowDown", "a2"),
    ):
        alice.page.keyboard.press(key)
        alice.focuses(f'[data-cell="{cell}"]')
    alice.focuses('[aria-label="a2, empty, playable"]')
    alice.page.keyboard.press("Enter")
    bob.cell("a2").locator(".mark").wait_for()
    bob.hears("Alice: a2. Your turn.")
    alice.hears("You: a2. Bob to move.")
    alice.focuses('[aria-label="a2, X, last move"]')
    bob.page.keyboard.press("Tab")
    bob.focuses('[data-cell="b2"]')
    bob.page.keyboard.press("Space")
    alice.hears("Bob: b2. Your turn.")
    alice.page.keyboard.press("Tab")
    alice.focuses("button.quiet")
    alice.page.keyboard.press("Enter")
    alice.frame.get_by_role("button", name="Yes, resign").click()
    bob.sees("You won by resignation.")
    _check_clean(service, site, alice, bob)


def test_a_page_of_another_origin_cannot_embed_the_frame(
    service: SharedService, site: str, tabs: list[Tab]
) -> None:
    stranger = service.partner()
    service.account(stranger, AddOrigin(PLATFORM, "test", "https://elsewhere.example"))
    tab = tabs[0]
    _open(service, stranger, site, tab, "alice")
    tab.page.wait_for_function("window.frames.length === 1")
    for _ in range(100):
        if tab.faults:
            break
        tab.page.wait_for_timeout(50)
    assert any("frame-ancestors" in fault for fault in tab.faults), tab.faults
    assert tab.told() == []


def test_a_newer_window_of_the_same_player_takes_over(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    first, second = tabs
    _open(service, partner, site, first, "alice")
    first.sees("Waiting for an opponent")
    _open(service, partner, site, second, "alice")
    first.sees("another window")
    assert first.told("pgs.error") == [{"type": "pgs.error", "reason": "session_replaced"}]
    first.frame.get_by_role("button", name="Play here instead").click()
    second.sees("another window")
    first.sees("Waiting for an opponent")


def test_a_session_that_is_cut_off_says_so(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice = tabs[0]
    _open(service, partner, site, alice, "alice")
    alice.sees("Waiting for an opponent")
    service.account(partner, SwitchAccount(PLATFORM, active=False))
    alice.sees("Your session was ended")
    assert alice.told("pgs.error")[-1]["reason"] == "session_ended"


def test_a_token_that_is_none_is_told_to_player_and_page(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    src, token = _mint(service, partner, "alice")
    tab.embed(site, service.client.base_url, src, token[:-4] + "AAAA")
    tab.sees("This session is not valid")
    assert tab.told("pgs.error") == [{"type": "pgs.error", "reason": "session_invalid"}]
    tab.page.evaluate("token => mounted.setSessionToken(token)", token)
    tab.sees("Waiting for an opponent")
    tab.page.evaluate("mounted.unmount()")
    assert tab.page.locator("iframe").count() == 0


def test_the_page_of_the_documentation_works_as_it_stands(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    (page,) = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "embed.md").read_text(), re.DOTALL)
    page = page.replace("https://games.example", service.client.base_url)
    tab, minted = tabs[0], 0

    def mint(route: Route) -> None:
        nonlocal minted
        minted += 1
        src, token = _mint(service, partner, "alice")
        # The first one is no good, so that the page has to ask again.
        route.fulfill(
            json={"embedUrl": src, "sessionToken": token if minted > 1 else token[:-4] + "AAAA"}
        )

    logged: list[str] = []
    tab.page.on("console", lambda message: logged.append(message.text))
    tab.page.route("**/play/session", mint)
    tab.page.goto(site)
    tab.page.evaluate("html => { document.open(); document.write(html); document.close(); }", page)
    tab.sees("This session is not valid")
    tab.sees("Waiting for an opponent")
    assert minted == 2
    assert "frame session_invalid" in logged
