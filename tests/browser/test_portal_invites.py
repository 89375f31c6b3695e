"""Links of invites: what their readers are told before and after they sign in."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import DEVI, by_admin
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_UNKNOWN = "/portal/join/ivt_sent-by-somebody"


def _link(demo: dict[str, str], email: str) -> str:
    """Return the path of a new invite's link. The admin's window for codes is open."""
    made = by_admin(demo, "POST", "invites", {"email": email, "role": "viewer"})
    return f"/portal/join/{made['inviteId']}"


@pytest.fixture
def stranger(browser: Browser, demo: dict[str, str]) -> Iterator[Visitor]:
    """Somebody who belongs to no account, and has not signed in."""
    visitor = Visitor(browser, demo)
    yield visitor
    visitor.close()


def test_the_sign_in_page_says_that_an_invite_waits_and_which_address_to_take(
    stranger: Visitor,
) -> None:
    stranger.open(_UNKNOWN)
    page = stranger.page
    page.get_by_role("heading", name="You were invited").wait_for()
    page.get_by_text("Sign in with the address that the invite was sent to.").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    stranger.open("/portal")
    page.get_by_role("heading", name="Portal", exact=True).wait_for()


def test_a_sign_in_that_fails_keeps_the_link(stranger: Visitor) -> None:
    stranger.open(_UNKNOWN)
    stranger.press("Sign in")
    state = stranger.page.evaluate("new URLSearchParams(location.search).get('state')")
    stranger.open(f"/portal/signed-in?error=access_denied&state={state}")
    stranger.page.get_by_role("alert").get_by_text("access_denied").wait_for()
    stranger.page.get_by_role("heading", name="You were invited").wait_for()
    stranger.page.wait_for_url(f"**{_UNKNOWN}")


def test_a_link_alone_accepts_no_invite_and_a_press_says_why_it_does_not_work(
    stranger: Visitor,
) -> None:
    accepted: list[str] = []
    stranger.page.on(
        "request", lambda sent: accepted.append(sent.url) if "/accept" in sent.url else None
    )
    stranger.open(_UNKNOWN)
    stranger.sign_in("Devi Demo")
    page = stranger.page
    page.get_by_role("heading", name="This link does not work for you").wait_for()
    page.get_by_text("ask whoever sent the link for a new one").wait_for()
    assert axe_faults_in_both_schemes(page) == []
    assert accepted == []
    stranger.press("Try to accept it")
    page.get_by_role("alert").get_by_text("There is no such invite").wait_for()
    assert len(accepted) == 1
    stranger.press("Use another address")
    page.get_by_role("heading", name="You were invited").wait_for()


@pytest.mark.usefixtures("admin_window")
def test_the_link_of_another_address_says_so_and_leads_to_the_reader_s_own_invite(
    stranger: Visitor, demo: dict[str, str]
) -> None:
    _link(demo, DEVI)
    stranger.open(_link(demo, "sam@demo.example"))
    stranger.sign_in("Devi Demo")
    stranger.press("Try to accept it")
    stranger.page.get_by_role("alert").get_by_text("is for another address").wait_for()
    stranger.press("See 1 other invite")
    stranger.page.get_by_role("heading", name="Demo Partner invites you").wait_for()
    assert stranger.page.get_by_role("alert").count() == 0


@pytest.mark.usefixtures("admin_window")
def test_somebody_who_joins_appears_on_the_open_page_of_members(
    admin: Visitor, stranger: Visitor, demo: dict[str, str]
) -> None:
    stranger.open(_link(demo, DEVI))
    stranger.sign_in("Devi Demo")
    admin.open("/portal/members")
    admin.stands_at("Members")
    people = admin.page.get_by_role("region", name="Members", exact=True)
    assert people.get_by_text(DEVI).count() == 0
    stranger.press("Accept and go on")
    people.get_by_role("rowheader", name=DEVI).wait_for()
    invites = admin.page.get_by_role("region", name="Invites").get_by_role("row")
    invites.filter(has_text=DEVI).get_by_text("accepted").first.wait_for()


@pytest.mark.usefixtures("admin_window")
def test_a_member_who_opens_a_link_is_told_that_it_does_nothing_and_goes_on(
    admin: Visitor, demo: dict[str, str]
) -> None:
    page = admin.page
    for path in (_UNKNOWN, _link(demo, "sue@demo.example")):
        admin.open(path)
        page.get_by_role("heading", name="You belong to Demo Partner already").wait_for()
        page.get_by_text("admin@demo.example").first.wait_for()
    assert axe_faults_in_both_schemes(page) == []
    admin.press("Go on to Demo Partner")
    admin.stands_at("Home")
