"""The calls that read: what is sent, and how records, lists and pages are returned."""

import pytest

from clients.python.tests.scripted import SEAT, Script, page, row
from pgs_client import Retries, UnexpectedAnswer

MATCH = {
    "matchId": "mat_1",
    "environment": "test",
    "gameId": "g",
    "tierId": "t",
    "status": "ended",
    "prizeUsdCents": 180,
    "seats": [{"seatId": "sea_1", "playerId": "p-1", "stakeUsdCents": 100, "result": "won"}],
}
SESSION = {
    "sessionToken": "pgs1.secret",
    "environment": "test",
    "gameId": "g",
    "playerId": "p-1",
    "playerUid": "ptr:test:acme:p-1",
    "issuedAt": 1,
    "expiresAt": 2,
    "embedUrl": "https://games.example/embed/test/acme",
    "gameSocketUrl": "wss://games.example/game/socket",
}
TIER = {
    "tierId": "t",
    "name": "T",
    "entryUsdCents": 100,
    "floorUsdCents": 100,
    "prizeUsdCents": 180,
    "priced": False,
}
ACCOUNT = {
    "partnerId": "acme",
    "name": "Acme",
    "apiVersion": 1,
    "environment": "test",
    "games": ["g"],
    "origins": [],
    "prices": {},
}
HOOK = {
    "url": "https://a.example",
    "enabled": True,
    "consecutiveFailures": 0,
    "createdAt": 1,
    "secretRotatedAt": 1,
    "disabledAt": None,
}


def test_the_other_calls_are_sent_and_read() -> None:
    script = Script(
        (200, ACCOUNT),
        (200, {**ACCOUNT, "webhook": HOOK}),
        (200, {"gameId": "g", "environment": "test", "tiers": [TIER]}),
        (200, SESSION),
        (200, MATCH),
        (200, MATCH),
        (200, MATCH),
        (200, {"results": [row()], "nextCursor": "c", "hasMore": False}),
        (200, {"days": []}),
        (200, {"days": []}),
        (200, {"rows": []}),
        (200, SEAT),
    )
    client = script.client()
    assert client.me().webhook is None
    hooked = client.me().webhook
    assert hooked is not None
    assert hooked.enabled
    assert client.tiers("g")[0].entry_usd_cents == 100
    minted = client.mint(game_id="g", player_id="p-1", display_name="Ada", ttl_seconds=60)
    assert minted.session_token == "pgs1.secret"
    assert "pgs1.secret" not in repr(minted)
    assert client.match("mat_1").seats[0].result == "won"
    assert client.decide("mat_1", None).status == "ended"
    assert client.call_off("mat_1").end_reason is None
    assert not client.results("c", wait_s=20, limit=5).items[0].is_paid
    assert client.digest("20260101", "20260102") == {"days": []}
    assert client.usage("20260101", "20260102") == {"days": []}
    assert client.seat_summary("20260101", "20260102") == {"rows": []}
    assert client.cancel("sea_1").seat_id == "sea_1"
    targets = [f"{each.method} {each.url.raw_path.decode()}" for each in script.requests]
    assert targets == [
        "GET /partner/me",
        "GET /partner/me",
        "GET /partner/tiers?gameId=g",
        "POST /partner/sessions",
        "GET /partner/matches/mat_1",
        "POST /partner/test/matches/mat_1/decide",
        "POST /partner/test/matches/mat_1/decide",
        "GET /partner/results?cursor=c&limit=5&waitSeconds=20",
        "GET /partner/results/digest?from=20260101&to=20260102",
        "GET /partner/usage?from=20260101&to=20260102",
        "GET /partner/seat-summary?from=20260101&to=20260102",
        "POST /partner/seats/sea_1/cancel",
    ]
    assert script.sent(5) == {"outcome": "ended", "winnerPlayerId": None}
    assert script.sent(6) == {"outcome": "no_contest"}
    held, plain = script.requests[7], script.requests[8]
    assert held.extensions["timeout"]["read"] == 35
    assert plain.extensions["timeout"]["read"] == 15


def test_every_gate_between_the_account_and_a_seat_is_read() -> None:
    gates = [{"gate": "account_active", "ok": True}, {"gate": "webhook_on", "ok": False}]
    answer = {"environment": "test", "gameId": "g", "ready": True, "gates": gates}
    script = Script((200, answer), (200, {**answer, "gates": [{"ok": True}]}))
    found = script.client().readiness("g")
    assert found.ready
    assert [(each.gate, each.ok, each.reason) for each in found.gates] == [
        ("account_active", True, None),
        ("webhook_on", False, None),
    ]
    assert script.requests[0].url.raw_path == b"/partner/readiness?gameId=g"
    with pytest.raises(UnexpectedAnswer, match="Gate has no gate"):
        script.client(Retries(tries=1)).readiness("g")


def test_the_feed_is_read_from_a_time() -> None:
    script = Script((200, page(row())))
    assert len(script.client().results(since=1_800_000_000).items) == 1
    assert script.requests[0].url.raw_path == b"/partner/results?since=1800000000"


def test_a_theme_is_read_and_replaced_as_a_whole() -> None:
    script = Script((200, {"cornerRadius": 8}), (200, {"cornerRadius": 0}))
    client = script.client()
    assert client.theme() == {"cornerRadius": 8}
    assert client.write_theme({"cornerRadius": 0}) == {"cornerRadius": 0}
    assert script.requests[1].method == "PUT"
    assert script.sent(1) == {"cornerRadius": 0}


def test_pages_are_read_to_the_last() -> None:
    invoice = {
        "invoiceId": "inv_1",
        "environment": "test",
        "status": "open",
        "periodFrom": "20260101",
        "periodTo": "20260131",
    }
    line = {
        "lineId": "lin_1",
        "day": "20260101",
        "gameId": "g",
        "tierId": "t",
        "description": "d",
        "matches": 1,
        "amountUsdCents": 20,
    }
    played = {"matchId": "mat_1", "endedAt": 1, "rakeUsdCents": 20}
    script = Script(
        (200, {"invoices": [invoice], "nextCursor": "c 1", "hasMore": True}),
        (200, {"invoices": [invoice], "nextCursor": None, "hasMore": False}),
        (200, {"lines": [line], "nextCursor": None, "hasMore": False}),
        (200, {"matches": [played], "nextCursor": None, "hasMore": False}),
        (200, invoice),
    )
    client = script.client()
    assert [each.invoice_id for each in client.invoices(status="open")] == ["inv_1", "inv_1"]
    assert [each.amount_usd_cents for each in client.invoice_lines("inv_1")] == [20]
    assert [each.rake_usd_cents for each in client.line_matches("inv_1", "lin_1")] == [20]
    assert client.invoice("inv_1").status == "open"
    assert script.requests[1].url.query == b"status=open&cursor=c+1&limit=500"


@pytest.mark.parametrize(
    "body", [{"results": [], "nextCursor": 7, "hasMore": False}, {"results": {}}, [], "x"]
)
def test_a_page_that_cannot_be_read_is_an_unexpected_answer(body: object) -> None:
    with pytest.raises(UnexpectedAnswer):
        Script((200, body)).client(Retries(tries=1)).results()
