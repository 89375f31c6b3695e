"""Two players in two browsers, in the frame in a partner's page, against the real service."""

import json
import re

import pytest
from playwright.sync_api import Route

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.chromium import Tab, win_with_the_first_row
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
    """Start a match. Return both tabs, that of the side to move first."""
    for tab, player in zip(tabs, ("alice", "bob"), strict=True):
        _seat(service, partner, player)
        _open(service, partner, site, tab, player)
    for tab in tabs:
        tab.frame.locator(".board").wait_for()
    alice, bob = tabs
    alice.sees("Your turn")
    bob.sees("is thinking")
    return alice, bob


def _check_clean(service: SharedService, site: str, *tabs: Tab) -> None:
    for tab in tabs:
        assert tab.errors == []
        assert tab.origins <= {site, service.client.base_url}


def test_two_players_play_a_match_to_its_end(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = begin(service, partner, site, tabs)
    win_with_the_first_row(alice, bob)
    assert [message["result"] for message in alice.messages("pgs.ended")] == ["won"]
    (ended,) = bob.messages("pgs.ended")
    assert (ended["result"], ended["outcome"], ended["endReason"]) == ("lost", "ended", "completed")
    assert alice.messages()[0] == {"type": "pgs.ready"}
    assert [
        message["ply"] for message in alice.messages("pgs.state") if message["status"] == "playing"
    ] == [0, 1, 2, 3, 4, 5]
    assert alice.messages("pgs.state")[-1]["status"] == "ended"
    _check_clean(service, site, alice, bob)


def test_a_player_waits_in_the_frame_until_an_opponent_comes(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = tabs
    _open(service, partner, site, alice, "alice")
    alice.sees("No seat yet")
    _seat(service, partner, "alice")
    alice.sees("Waiting for an opponent")
    _seat(service, partner, "bob")
    alice.sees("Your turn")
    alice.hears("You play X")
    _open(service, partner, site, bob, "bob")
    alice.hears("is here")
    alice.frame.locator(".clock").first.wait_for()
    _check_clean(service, site, alice, bob)


def test_a_match_is_played_with_the_keyboard_alone(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice, bob = begin(service, partner, site, tabs)
    alice.page.keyboard.press("Tab")
    alice.focuses('[data-cell="b2"]')
    for key, cell in (
        ("ArrowUp", "b3"),
        ("ArrowUp", "b3"),
        ("ArrowLeft", "a3"),
        ("End", "c3"),
        ("Home", "a3"),
        ("ArrowDown", "a2"),
    ):
        alice.page.keyboard.press(key)
        alice.focuses(f'[data-cell="{cell}"]')
    alice.focuses('[aria-label="a2, empty, playable"]')
    alice.page.keyboard.press("Enter")
    bob.cell("a2").locator(".mark").wait_for()
    bob.hears(": a2. Your turn.")
    alice.hears("You: a2.")
    alice.focuses('[aria-label="a2, X, last move"]')
    bob.page.keyboard.press("Tab")
    bob.focuses('[data-cell="b2"]')
    bob.page.keyboard.press("Space")
    alice.hears(": b2. Your turn.")
    alice.frame.get_by_role("button", name="Resign").press("Enter")
    alice.focuses('button:has-text("Play on")')
    alice.page.keyboard.press("Escape")
    alice.frame.get_by_role("button", name="Resign").press("Enter")
    alice.frame.locator(".card .out:enabled").press("Enter")
    bob.sees("You won")
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
        if tab.errors:
            break
        tab.page.wait_for_timeout(50)
    assert any("frame-ancestors" in error for error in tab.errors), tab.errors
    assert tab.messages() == []


def test_a_newer_window_of_the_same_player_takes_over(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    first, second = tabs
    _open(service, partner, site, first, "alice")
    first.sees("No seat yet")
    _open(service, partner, site, second, "alice")
    first.sees("another window")
    assert first.messages("pgs.error") == [{"type": "pgs.error", "reason": "session_replaced"}]
    first.frame.get_by_role("button", name="Play here instead").click()
    second.sees("another window")
    first.sees("No seat yet")


def test_the_frame_says_that_a_session_was_ended(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    alice = tabs[0]
    _open(service, partner, site, alice, "alice")
    alice.sees("No seat yet")
    service.account(partner, SwitchAccount(PLATFORM, active=False))
    alice.sees("Your session was ended")
    assert alice.messages("pgs.error")[-1]["reason"] == "session_ended"


def test_an_invalid_token_is_reported_to_the_player_and_the_page(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    tab = tabs[0]
    embed_url, token = _mint(service, partner, "alice")
    tab.embed(site, service.client.base_url, embed_url, token[:-4] + "AAAA")
    tab.sees("This session is not valid")
    assert tab.messages("pgs.error") == [{"type": "pgs.error", "reason": "session_invalid"}]
    tab.page.evaluate("token => mounted.setSessionToken(token)", token)
    tab.sees("No seat yet")
    tab.page.evaluate("mounted.unmount()")
    assert tab.page.locator("iframe").count() == 0


def test_the_page_in_the_documentation_works(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    (page,) = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "embed.md").read_text(), re.DOTALL)
    page = page.replace("https://games.example", service.client.base_url)
    tab, minted = tabs[0], 0

    def mint(route: Route) -> None:
        nonlocal minted
        minted += 1
        embed_url, token = _mint(service, partner, "alice")
        # The first token is invalid, so the page must ask again.
        route.fulfill(
            json={
                "embedUrl": embed_url,
                "sessionToken": token if minted > 1 else token[:-4] + "AAAA",
            }
        )

    logged: list[str] = []
    tab.page.on("console", lambda message: logged.append(message.text))
    tab.page.route("**/play/session", mint)
    tab.page.goto(site)
    tab.page.evaluate("html => { document.open(); document.write(html); document.close(); }", page)
    tab.sees("This session is not valid")
    tab.sees("No seat yet")
    assert minted == 2
    assert "frame session_invalid" in logged


def test_the_listener_in_the_documentation_hands_the_session_to_a_frame(
    service: SharedService, partner: Partner, site: str, tabs: list[Tab]
) -> None:
    (lines,) = re.findall(r"```js\n(.*?)```", (ROOT / "docs" / "embed.md").read_text(), re.DOTALL)
    lines = lines.replace("https://games.example", service.client.base_url)
    embed_url, token = _mint(service, partner, "alice")
    tab = tabs[0]
    tab.page.goto(site)
    tab.page.add_script_tag(
        content=f"const iframe = document.createElement('iframe');"
        f"const sessionToken = {json.dumps(token)};\n{lines}\n"
        f"iframe.src = {json.dumps(embed_url)}; document.body.append(iframe);"
    )
    tab.sees("No seat yet")
