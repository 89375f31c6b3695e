"""Every page of the portal as each role: it opens, and offers exactly what the role may do."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from playwright.sync_api import Browser

from pgs.domain.roles import ADMIN_RULES, ROLES, Role, may, rule_of
from tests.browser.live_match import LiveMatch, running_live_match
from tests.browser.members import by_admin, by_key, by_live_key
from tests.browser.portal_answers import answer_figures
from tests.browser.test_portal_rounds import PAGES
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_PREFIX: Final = "/partner/admin/"


class Offer(msgspec.Struct, frozen=True):
    """Buttons and fields with which a page offers a call.

    `named`: a pattern of their names. `path`: the template of the call's path.
    """

    named: str
    method: str
    path: str

    def is_for(self, role: Role) -> bool:
        """Return whether a role may make the call."""
        return may(role, rule_of(self.method, _PREFIX + self.path))

    def forced(self, visitor: Visitor) -> tuple[int, Any]:
        """Return the answer to the call, made without the page."""
        path = self.path.replace("{env}", "test").replace("{game_id}", "reversi")
        return visitor.answer_to(self.method, re.sub(r"{\w+}", "unknown", path), {})


_KEYS: Final = (
    Offer("Create (test|live) key|Label of a new .* key", "POST", "keys"),
    Offer("Rotate .*", "POST", "keys/{key_id}/rotate"),
    Offer("Revoke .*", "DELETE", "keys/{key_id}"),
)
_HOOK: Final = Offer("Save (test|live) address|Address, with https", "POST", "webhooks/{env}")
_RESEND: Final = Offer("Resend", "POST", "webhooks/{env}/attempts/{attempt_id}/resend")
_ORIGINS: Final = (
    Offer("Add (test|live) origin|Origin of a page .*", "POST", "origins"),
    Offer("Remove .*", "DELETE", "origins"),
)
_THEME: Final = (
    Offer(
        "Take this theme to (test|live)|Name on the frame|Pick .*|Primary|Background|Text|Corners.*"
        "|Logo|Show stakes and prizes .*",
        "PUT",
        "theme/{env}",
    ),
)
_PRICES: Final = (Offer("Price of .*", "PUT", "prices/{env}"),)

_OFFERS: Final[dict[str, tuple[Offer, ...]]] = {
    "test/try": (Offer("Game|Tier|Seat two test players", "POST", "test-match"),),
    "test/keys": _KEYS,
    "live/keys": _KEYS,
    "test/games": (
        Offer("Turn on .* in test", "POST", "games/{game_id}/test"),
        Offer("Turn off .* in test", "DELETE", "games/{game_id}/test"),
    ),
    "live/games": (
        Offer("Request live access to .*", "POST", "games/{game_id}/live-request"),
        Offer("Give up live access to .*", "DELETE", "games/{game_id}/live-request"),
    ),
    "test/origins": _ORIGINS,
    "live/origins": _ORIGINS[:1],  # there is none to remove
    "test/webhooks": (
        _HOOK,
        Offer("Send a test event", "POST", "webhooks/{env}/test"),
        Offer("Replace the secret", "POST", "webhooks/{env}/rotate-secret"),
        Offer("Switch it off", "POST", "webhooks/{env}/disable"),
    ),
    "live/webhooks": (_HOOK,),
    "test/prices": _PRICES,
    "live/prices": _PRICES,
    "test/theme": _THEME,
    "live/theme": _THEME,
    "members": (
        Offer("Copy the link for .*", "GET", "invites"),
        Offer("Invite somebody", "POST", "invites"),
        Offer("Take back the invite for .*", "DELETE", "invites/{invite_id}"),
        Offer("Role of .*", "PATCH", "members/{uid}"),
        Offer("Remove .*", "DELETE", "members/{uid}"),
        Offer("Reset the authenticator of .*", "DELETE", "members/{uid}/totp"),
    ),
    "versions": (Offer("Change the version of .*", "POST", "api-version"),),
    "account": (
        Offer("Set a domain", "POST", "account/domain"),
        Offer("Stop…", "POST", "emergency-stop"),
        Offer("Switch off…", "POST", "account/deactivate"),
    ),
    "security": (Offer("(Connect an|Replace the) authenticator", "POST", "totp/enroll"),),
}
"""What a page offers to the roles that may do it."""

_ELSEWHERE: Final = {
    "POST account/reactivate",  # while the account is off
    "POST rake-terms",  # until the terms are agreed
    "POST totp/verify",  # in the dialog for codes
    "POST invites/{invite_id}/accept",  # before somebody is a member
}
"""Calls that no page offers in the state of this account. Other tests in this folder make them."""

_CHANGES_NOTHING: Final = re.compile(
    r"Pause|Find|Copy (Call as curl|the (partner|request|seat|match) id|mat_.*)|All|Failed \d+"
    r"|Delivered|Test events"
    r"|Open .*|CSV|Search|Kind|Who|Game|Tier|From|To|Waiting|Playing|Won|Print|Match, seat, .*"
    r"|Id of a nudge .*|Matches|Rake|By .*|Running|Decided|No contest"
    r"|Show 20 more|\d+ days|Month|Seats|Open|Paid|Void"
)
"""Names of buttons and fields that only show something."""

# A call may be shown at any moment: rows of the stream and their filters are left out.
_NAMES: Final = """() => [...document.querySelectorAll(
  'main :is(button, input, select):enabled:not(ul.feed *, .kinds *)')].map((element) =>
    (element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText)
      .replace(/\\s+/g, ' ').trim())"""


@pytest.fixture(scope="module")
def admin(browser: Browser, demo: dict[str, str], admin_window: None) -> Iterator[Visitor]:
    """The demo's admin. The account has an invite, a game that is off, and one without live."""
    invite = {"email": "waits@demo.example", "role": "viewer"}
    assert by_admin(demo, "POST", "invites", invite)["_status"] == 200
    for place in ("reversi/test", "connect-four/live-request"):
        assert by_admin(demo, "DELETE", f"games/{place}")["_status"] == 200
    visitor = Visitor(browser, demo)
    visitor.enter()
    yield visitor
    visitor.close()


@pytest.fixture(scope="module", params=ROLES)
def member(
    request: pytest.FixtureRequest, demo: dict[str, str], admin: Visitor, viewer: Visitor
) -> tuple[Role, Visitor]:
    """A member with each role."""
    role: Role = request.param
    if role == "admin":
        return role, admin
    changed = by_admin(demo, "PATCH", "members/demo-developer", {"role": role})
    assert changed["_status"] == 200, changed
    return role, viewer


_WALKED: Final = (
    *PAGES,
    ("live/keys", "API keys"),
    ("live/games", "Games"),
    ("live/webhooks", "Webhooks"),
    ("live/prices", "Prices"),
    ("live/usage", "Usage"),
    ("live/now", "Calls now"),
    ("live/find", "Find a match"),
    ("live/origins", "Origins"),
    ("live/theme", "Theme"),
    ("live/invoices", "Invoices"),
)


@pytest.mark.parametrize(("path", "title"), _WALKED)
def test_a_page_opens_and_offers_exactly_what_the_role_may_do(
    member: tuple[Role, Visitor], path: str, title: str
) -> None:
    role, visitor = member
    visitor.tab.errors.clear()
    visitor.go(path, title)
    offers = _OFFERS.get(path, ())
    for offer in offers:
        if offer.is_for(role):
            named = re.compile(f"^({offer.named})$")
            visitor.page.wait_for_function(
                f"(pattern) => ({_NAMES})().some((name) => new RegExp(pattern).test(name))",
                arg=named.pattern,
            )
        else:
            status, told = offer.forced(visitor)
            assert (status, told["reason"]) == (403, "role_forbidden"), offer
    names = [name for name in visitor.page.evaluate(_NAMES) if not _CHANGES_NOTHING.fullmatch(name)]
    allowed = [offer for offer in offers if offer.is_for(role)]
    assert [
        name for name in names if not any(re.fullmatch(offer.named, name) for offer in allowed)
    ] == []
    # A demo that began today has no final day yet; the portal asks for yesterday first.
    assert [error for error in visitor.tab.errors if "400" not in error] == []


def test_the_page_of_a_match_offers_no_role_a_change(
    member: tuple[Role, Visitor], demo: dict[str, str]
) -> None:
    _, visitor = member
    match_id = by_key(demo, "GET", "/partner/results")["results"][0]["matchId"]
    visitor.open(f"/portal/test/matches/{match_id}")
    visitor.page.get_by_role("heading", level=1, name="won against").wait_for()
    names = visitor.page.evaluate(_NAMES)
    assert [name for name in names if not re.match("Copy|Move|One move|Show|Hide", name)] == []


@pytest.fixture(scope="module")
def live_match_id(demo: dict[str, str]) -> str:
    """A live match whose only seat was taken back."""
    body = {"gameId": "tic-tac-toe", "tierId": "live-bronze", "stakeUsdCents": 100}
    named = {"playerId": "live-ana", "idempotencyKey": "live-ana"}
    seated = by_live_key(demo, "POST", "/partner/matches", body | named)
    by_live_key(demo, "POST", f"/partner/seats/{seated['seatId']}/cancel")
    (match,) = by_admin(demo, "GET", "matches?environment=live")["matches"]
    found: str = match["matchId"]
    return found


def test_the_page_of_a_live_match_offers_no_role_a_change(
    member: tuple[Role, Visitor], live_match_id: str
) -> None:
    _, visitor = member
    visitor.go("live/find?status=no_contest", "Find a match")
    visitor.page.get_by_role("region", name="Latest matches").get_by_role("link").first.click()
    visitor.page.get_by_role("heading", level=1, name="live-ana had no opponent yet").wait_for()
    assert visitor.page.url.endswith(f"/portal/live/matches/{live_match_id}")
    names = visitor.page.evaluate(_NAMES)
    assert [name for name in names if not re.match("Copy|Show|Hide", name)] == []


@pytest.fixture
def running(
    demo: dict[str, str], member: tuple[Role, Visitor], live_match_id: str
) -> Iterator[LiveMatch]:
    """A live match while it is played, one for each role: their clocks end it within a minute."""
    role, _ = member
    with running_live_match(demo, f"live-kim-{role}", f"live-leo-{role}") as match:
        yield match


def test_the_page_of_a_running_live_match_offers_no_role_a_change(
    member: tuple[Role, Visitor], running: LiveMatch
) -> None:
    _, visitor = member
    visitor.go("live/find?status=started", "Find a match")
    visitor.page.get_by_role("region", name="Latest matches").get_by_role("link").first.click()
    visitor.page.get_by_role("heading", level=1, name=" plays ").wait_for()
    assert visitor.page.url.endswith(f"/portal/live/matches/{running.match_id}")
    visitor.page.get_by_role("button", name="One move back").wait_for()
    names = visitor.page.evaluate(_NAMES)
    assert [name for name in names if not re.match("Copy|Move|One move|Show|Hide", name)] == []


def test_what_a_page_opens_offers_exactly_what_the_role_may_do(
    member: tuple[Role, Visitor],
) -> None:
    role, visitor = member

    def offered(part: str) -> list[str]:
        names = visitor.page.evaluate(_NAMES.replace("main ", f"{part} "))
        return [name for name in names if not re.match("Copy|Close|CSV|Print|Matches", name)]

    attempt = visitor.call("GET", "webhooks/test/attempts")["attempts"][0]
    visitor.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    visitor.page.get_by_role("region", name="Request").wait_for()
    if _RESEND.is_for(role):
        assert offered("[data-detail]") == ["Resend"]
    else:
        assert offered("[data-detail]") == []
        status, told = _RESEND.forced(visitor)
        assert (status, told["reason"]) == (403, "role_forbidden")
    event = visitor.call("GET", "events")["events"][0]
    visitor.go(f"events?open={event['eventId']}", "Event log")
    visitor.page.get_by_role("region", name="Detail").wait_for()
    assert offered("[data-detail]") == []
    answer_figures(visitor.page)
    for environment in ("test", "live"):
        visitor.go(f"{environment}/invoice/inv_7?open=lin_20261031", "Invoice 7")
        visitor.page.get_by_role("link", name="mat_1").wait_for()
        visitor.page.get_by_role("definition").get_by_text(environment, exact=True).wait_for()
        assert offered("main") == []
    visitor.page.unroute_all()
    visitor.go("live/nothing", "No such page")
    assert offered("main") == []


def test_every_change_of_the_admin_api_is_offered_by_a_page() -> None:
    every = [*(offer for offers in _OFFERS.values() for offer in offers), _RESEND]
    offered = {f"{offer.method} {offer.path}" for offer in every}
    changes = {
        f"{rule.method} {rule.path.removeprefix(_PREFIX)}"
        for rule in ADMIN_RULES
        if rule.method != "GET"
    }
    assert changes - offered == _ELSEWHERE
