"""The frame shows people sentences, and never the codes that programs exchange."""

import re
from collections.abc import Callable
from typing import Final, get_args

import pytest
from playwright.sync_api import Route

from pgs.domain.seats import EndReason, Result
from tests.browser.positions import STATES, State
from tests.browser.shown import Shown

pytestmark = pytest.mark.browser

NAMED: Final = {state.name: state for state in STATES}

UNKNOWN: Final = "reason_of_tomorrow"
"""A code that this frame does not know, as a newer service may send one."""

CLOSE_CODES: Final = (1001, 4400, 4401, 4403, 4409, 4503, 4999)

REFUSALS: Final = (
    (401, "unauthorized_key"),
    (403, "partner_inactive"),
    (403, UNKNOWN),
    (429, "rate_limited"),
    (503, "registry_unavailable"),
)
"""Answers to the session call: a status, and a reason."""

SOCKET_ERRORS: Final = (
    "match_over",
    "stale_ply",
    "not_your_turn",
    "illegal_move",
    "bad_message",
    "match_not_found",
    "cross_environment_join",
    "registry_unavailable",
    UNKNOWN,
)

TEXTS: Final = """() => {
  const named = [...document.querySelectorAll('[aria-label], [title], [alt]')];
  const names = named.flatMap((one) =>
    ['aria-label', 'title', 'alt'].map((name) => one.getAttribute(name)));
  const log = [...document.querySelectorAll('[role=log] p')].map((one) => one.textContent);
  return [document.title, document.body.innerText, ...names, ...log].filter(Boolean).join('\\n');
}"""
"""Every text that a person can see or hear."""

SNAKE: Final = re.compile(r"[A-Za-z0-9]+_[A-Za-z0-9_]+")


def _codes(shown: Shown) -> list[str]:
    text = shown.document.evaluate(TEXTS)
    assert len(text) > 20, "nothing is shown"
    return SNAKE.findall(text)


def _reports(shown: Shown, reason: str) -> None:
    """Wait until the page has been told of a reason. The frame has been drawn by then."""
    shown.tab.page.wait_for_function(
        "reason => window.messages.some((one) => one.reason === reason)", arg=reason
    )
    shown.tab.page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")


def _answers(status: int, reason: str) -> Callable[[Route], None]:
    body = {"error": "A sentence.", "reason": reason}
    return lambda route: route.fulfill(status=status, json=body)


@pytest.mark.parametrize(
    "shown",
    [("tic-tac-toe", "en-US"), ("connect-four", "de"), ("reversi", "fr"), ("chess", "ar")],
    indirect=True,
)
def test_no_message_about_the_end_of_a_match_shows_a_code(shown: Shown) -> None:
    game = shown.server.session["gameId"]
    for reason in (*get_args(EndReason), UNKNOWN):
        for result in (*get_args(Result), None):
            outcome = "no_contest" if result is None else "ended"
            ended = {"outcome": outcome, "result": result, "endReason": reason, "dueUsdCents": 5}
            shown.show(game, State(reason, ended=ended), "")
            panel = shown.tab.frame.locator(".dock.end")
            panel.wait_for()
            assert panel.locator(".headline").inner_text() != ""
            assert _codes(shown) == [], (reason, result)


def test_no_message_about_a_lost_or_refused_connection_shows_a_code(shown: Shown) -> None:
    page = shown.tab.page
    for number, code in enumerate(CLOSE_CODES, 1):
        sockets = len(shown.server.sockets)
        shown.show("tic-tac-toe", NAMED["your turn"])
        shown.server.close(code)
        page.wait_for_timeout(150)
        assert _codes(shown) == [], code
        page.evaluate(f"mounted.setSessionToken('token-{number}')")
        while len(shown.server.sockets) == sockets:
            page.wait_for_timeout(20)
        shown.tab.frame.locator(".net:not(.off)").wait_for()
    for status, reason in REFUSALS:
        answer = _answers(status, reason)
        page.evaluate("window.messages.length = 0")
        page.route("**/game/session", answer)
        page.evaluate(f"mounted.setSessionToken('token-{reason}')")
        _reports(shown, "session_invalid" if status == 401 else reason)
        assert _codes(shown) == [], reason
        page.unroute("**/game/session", answer)


def test_no_message_about_a_refusal_shows_a_code(shown: Shown) -> None:
    for reason in SOCKET_ERRORS:
        shown.show("tic-tac-toe", NAMED["your turn"])
        shown.tab.cell("b2").click()
        shown.server.send({"type": "error", "reason": reason, "ref": "mat_1"})
        shown.tab.page.wait_for_timeout(100)
        assert _codes(shown) == [], reason


@pytest.mark.parametrize(
    "other", [{"playerUid": "ptr:test:another:alice"}, {"environment": "live"}]
)
def test_a_session_of_another_partner_or_environment_is_refused(
    shown: Shown, other: dict[str, str]
) -> None:
    page, server = shown.tab.page, shown.server
    shown.show("tic-tac-toe", NAMED["your turn"])
    sockets, joins = len(server.sockets), len(server.received)
    mine = dict(server.session)
    server.session |= other
    page.evaluate("mounted.setSessionToken('another-session')")
    shown.tab.sees("This session is not valid")
    _reports(shown, "session_mismatch")
    assert _codes(shown) == []
    assert shown.tab.frame.get_by_role("button", name="Resign").count() == 0
    page.wait_for_timeout(1500)
    assert len(server.sockets) == sockets, "no socket is opened with it"
    assert len(server.received) == joins
    server.session = mine
    page.evaluate("mounted.setSessionToken('own-session')")
    server.wait("join", 2)
