"""Attacks on the portal from inside its data: markup in texts, and ids of another account."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.demo import running_demo
from tests.browser.members import by_admin, by_key, open_window
from tests.browser.portal_answers import answer_figures
from tests.browser.test_portal_rounds import PAGES
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_MARKUP: Final = (
    '<img src=x onerror="window.attacked=1"><b class="evil">\'"</b></title></script>'
    "<script>window.attacked=1</script>[a](javascript:window.attacked=1)"
)
_TEXTS: Final = frozenset(
    {
        "actor",
        "adminDomain",
        "description",
        "displayName",
        "email",
        "endReason",
        "error",
        "label",
        "name",
        "note",
        "partnerName",
        "partnerRef",
        "playerId",
        "responseBody",
        "text",
        "uid",
        "winnerPlayerId",
    }
)
"""Fields that somebody outside the portal may fill, in part or wholly, with whatever they like."""


def _poisoned(value: Any, key: str = "") -> Any:
    """Return an answer whose texts end with markup."""
    if isinstance(value, dict):
        return {name: _poisoned(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_poisoned(inner, key) for inner in value]
    return value + _MARKUP if isinstance(value, str) and key in _TEXTS else value


def _poison(visitor: Visitor) -> None:
    def answer(route: Route) -> None:
        if "/live?" in route.request.url:
            route.continue_()
            return
        told = route.fetch()
        body = json.dumps(_poisoned(told.json()))
        route.fulfill(response=told, body=body)

    visitor.page.route("**/partner/admin/**", answer)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    """A demo and its folder, with an invite and a second account."""
    folder = tmp_path_factory.mktemp("demo")
    with running_demo(folder) as demo:
        open_window(demo)
        invite = {"email": "waits@demo.example", "role": "viewer"}
        assert by_admin(demo, "POST", "invites", invite)["_status"] == 200
        command = ["partner", "create", "rival", "--name", "Rival", "--data", "demo-data"]
        options = ["--admin-email", "developer@demo.example"]
        subprocess.run(
            [sys.executable, "-m", "pgs", *command, *options],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        yield demo, folder


@pytest.fixture(scope="module")
def admin(browser: Browser, started: tuple[dict[str, str], Path]) -> Iterator[Visitor]:
    """The demo's admin, to whom every text comes with markup."""
    visitor = Visitor(browser, started[0])
    visitor.page.on("dialog", lambda dialog: visitor.tab.errors.append(dialog.message))
    visitor.enter()
    yield visitor
    visitor.close()


def _is_unharmed(visitor: Visitor) -> None:
    found = visitor.page.evaluate(
        "() => [window.attacked ?? null, document.querySelectorAll('.evil, [src=x]').length,"
        " document.querySelectorAll('a[href^=javascript]').length]"
    )
    assert found == [None, 0, 0]


@pytest.mark.parametrize(("path", "title"), PAGES)
def test_markup_in_a_text_of_the_service_is_shown_as_text(
    admin: Visitor, path: str, title: str
) -> None:
    _poison(admin)
    admin.tab.errors.clear()
    admin.go(path, title)
    expect(admin.page.locator("nav .who")).to_contain_text(_MARKUP)  # the account's name
    admin.page.wait_for_timeout(200)  # a script of an image that does not load runs later
    _is_unharmed(admin)
    assert [error for error in admin.tab.errors if "400" not in error] == []


def test_markup_in_what_a_page_opens_is_shown_as_text(admin: Visitor) -> None:
    attempt = admin.call("GET", "webhooks/test/attempts")["attempts"][0]
    event = admin.call("GET", "events")["events"][0]
    match, *_ = admin.call("GET", "matches?environment=test")["matches"]
    _poison(admin)
    admin.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    expect(admin.page.get_by_role("region", name="Answer")).to_contain_text(_MARKUP)
    _is_unharmed(admin)
    admin.go(f"events?open={event['eventId']}", "Event log")
    admin.page.get_by_role("region", name="Detail").wait_for()
    _is_unharmed(admin)
    admin.open(f"/portal/test/matches/{match['matchId']}")
    expect(admin.page.get_by_role("heading", level=1, name="won against")).to_contain_text(_MARKUP)
    _is_unharmed(admin)
    admin.page.unroute_all(behavior="wait")
    answer_figures(admin.page)
    admin.go("test/invoice/inv_7", "Invoice 7")
    _is_unharmed(admin)


def test_markup_in_a_call_is_shown_as_text_as_it_happens(
    admin: Visitor, started: tuple[dict[str, str], Path]
) -> None:
    admin.page.unroute_all(behavior="wait")
    with admin.page.expect_response("**/partner/admin/live?*"):
        admin.go("test/now", "Calls now")
    names = {"playerId": "p", "gameId": _MARKUP, "tierId": _MARKUP, "idempotencyKey": "k"}
    refused = by_key(started[0], "POST", "/partner/matches", names)
    assert refused["_status"] >= 400
    call = admin.page.get_by_role("main").get_by_text("/partner/matches").first
    call.click()
    admin.page.get_by_text(refused["error"]).first.wait_for()
    _is_unharmed(admin)


@pytest.fixture(scope="module")
def rival(browser: Browser, started: tuple[dict[str, str], Path]) -> Iterator[Visitor]:
    """The admin of the second account."""
    visitor = Visitor(browser, started[0])
    visitor.open("/portal")
    visitor.sign_in("Devi Demo")
    visitor.press("Accept and go on")
    visitor.press("Do this later")
    visitor.stands_at("Home")
    yield visitor
    visitor.close()


def test_no_page_shows_anything_of_another_account(
    rival: Visitor, started: tuple[dict[str, str], Path]
) -> None:
    demo, _ = started
    row = by_key(demo, "GET", "/partner/results")["results"][0]
    key = by_admin(demo, "GET", "keys")["keys"][0]
    attempt = by_admin(demo, "GET", "webhooks/test/attempts")["attempts"][0]
    event = by_admin(demo, "GET", "events")["events"][0]
    for text in (row["matchId"], row["seatId"], row["playerId"]):
        rival.go(f"test/find?q={text}", "Find a match")
        rival.page.get_by_text("neither in test nor in live").wait_for()
    rival.open(f"/portal/test/matches/{row['matchId']}")
    rival.page.get_by_text(row["matchId"]).first.wait_for()
    expect(rival.page.get_by_text(row["playerId"])).to_have_count(0)
    for path, title, hidden in (
        (f"test/keys?open={key['keyId']}", "API keys", key["last4"]),
        (f"test/webhooks?open={attempt['attemptId']}", "Webhooks", attempt["nudgeId"]),
        (f"events?open={event['eventId']}", "Event log", "admin@demo.example"),
        ("members", "Members", "admin@demo.example"),
    ):
        rival.go(path, title)
        expect(rival.page.get_by_text(hidden)).to_have_count(0)


@pytest.fixture(scope="module")
def invoice_id(started: tuple[dict[str, str], Path]) -> str:
    """The id of a draft with the demo's matches of today."""
    demo, folder = started
    command = ["invoice", "assemble", "--month", f"{datetime.now(UTC):%Y%m}", "--json"]
    told = subprocess.run(
        [sys.executable, "-m", "pgs", *command, "--data", "demo-data"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (invoice,) = json.loads(told.stdout)
    found: str = invoice["invoiceId"]
    read = by_admin(demo, "GET", f"invoices/{found}?environment=test")
    assert (read["_status"], read["reason"]) == (409, "invoice_not_readable")
    return found


def test_the_invoice_of_another_account_has_no_page(rival: Visitor, invoice_id: str) -> None:
    for environment in ("test", "live"):
        rival.go(f"{environment}/invoice/{invoice_id}", "Invoice")
        rival.page.get_by_text(f"There is no such invoice in {environment}.").wait_for()


def test_reads_of_another_account_by_id_find_nothing(
    rival: Visitor, started: tuple[dict[str, str], Path], invoice_id: str
) -> None:
    demo, _ = started
    match_id = by_key(demo, "GET", "/partner/results")["results"][0]["matchId"]
    for path, reason in (
        (f"matches/{match_id}?environment=test", "match_not_found"),
        (f"invoices/{invoice_id}?environment=test", "invoice_not_found"),
        (f"invoices/{invoice_id}/lines?environment=test", "invoice_not_found"),
        ("invoices/inv_1?environment=test", "invoice_not_found"),
        ("invoices/inv_1/lines?environment=test", "invoice_not_found"),
    ):
        status, told = rival.answer_to("GET", path)
        assert (status, told["reason"]) == (404, reason), path
    for place in ("keys", "members", "invites", "events", "webhooks/test/attempts"):
        assert "demo.example" not in json.dumps(rival.call("GET", place)).replace(
            "developer@demo.example", ""
        )
