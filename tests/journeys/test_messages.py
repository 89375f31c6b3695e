"""What a refusal tells people: each mistake of a first integration gets its own sentence."""

import pytest

from pgs.actors.messages.account.keys import RevokeKey
from pgs.domain.members import PLATFORM
from pgs.http.transport.edge import DEFAULT_BODY_BYTES
from tests.journeys.admin_client import AdminClient
from tests.journeys.client import HeaderList, Reply, SyncClient, check_doc_url, ok
from tests.journeys.partners import BOTH, BRONZE, LIVE_TIER, TEST_ONLY, Partner, seat_body
from tests.journeys.service import SharedService
from tests.journeys.ways import both_ways

shared = both_ways()

WRONG_KEYS: list[tuple[str, HeaderList, str]] = [
    ("no header", [], "has no API key"),
    ("X-Api-Key", [("X-Api-Key", "x")], "header x-api-key is not read"),
    ("Basic", [("Authorization", "Basic dTpw")], "Basic authentication"),
    ("no Bearer", [("Authorization", "pgs_test_abc")], "word Bearer is missing"),
    ("another scheme", [("Authorization", "Token abc")], "another scheme than Bearer"),
    ("empty", [("Authorization", "Bearer")], "after Bearer is empty"),
    ("session token", [("Authorization", "Bearer pgs1.a.b.c.d")], "session token"),
    ("identity token", [("Authorization", "Bearer eyJhbGciOi.a.b")], "identity token"),
    ("signing secret", [("Authorization", "Bearer whsec_abc")], "signing secret"),
    ("id of a key", [("Authorization", "Bearer key_abc")], "id of a key's record"),
    ("wrong prefix", [("Authorization", "Bearer sk_test_abc")], "begins with pgs_test_"),
    ("quotes", [("Authorization", 'Bearer "pgs_test_abc"')], "stands in quotes or brackets"),
    ("brackets", [("Authorization", "Bearer <pgs_test_abc>")], "stands in quotes or brackets"),
    ("cut", [("Authorization", "Bearer pgs_test_abc")], "12 characters instead of 55"),
    ("mistyped", [("Authorization", "Bearer pgs_test_" + "a" * 46)], "checksum"),
    ("twice", [("Authorization", "Bearer a"), ("Authorization", "Bearer b")], "more than once"),
]


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [(headers, sentence) for _, headers, sentence in WRONG_KEYS],
    ids=[name for name, _, _ in WRONG_KEYS],
)
def test_each_way_to_lack_a_key_has_a_sentence_of_its_own(
    client: SyncClient, headers: HeaderList, sentence: str
) -> None:
    reply = client.call("GET", "/partner/me", headers=headers)
    assert (reply.status, reply.reason) == (401, "invalid_key")
    assert sentence in reply.json["error"]
    check_doc_url(reply.json["docUrl"], "invalid_key")


def test_a_revoked_key_is_not_taken_for_a_mistyped_one(shared: SharedService) -> None:
    partner = shared.partner()
    shared.account(partner, RevokeKey(PLATFORM, partner.key_ids["test"]))
    error = shared.client.call("GET", "/partner/me", partner.test).json["error"]
    assert "revoked" in error


def _seat(
    client: SyncClient, partner: Partner, fields: dict[str, object], headers: HeaderList = ()
) -> Reply:
    whole = seat_body("alice", "m") | fields
    body = {name: value for name, value in whole.items() if value is not ...}
    return client.call("POST", "/partner/matches", partner.test, body, headers=headers)


@pytest.mark.parametrize(
    ("fields", "status", "sentences"),
    [
        ({"playerId": ..., "player_id": "p"}, 400, ["has `player_id`", "mean `playerId`"]),
        ({"playerId": ...}, 400, ["`playerId` is required"]),
        ({"playerId": 7}, 400, ["put the id in quotes"]),
        ({"playerId": ""}, 400, ["is empty"]),
        ({"gameId": ..., "game_id": BOTH}, 400, ["has `game_id`", "mean `gameId`"]),
        ({"gameId": "tictactoe"}, 403, [f"Did you mean {BOTH}?", TEST_ONLY]),
        ({"gameId": "go"}, 403, ["runs no such game. It runs: "]),
        ({"tierId": ..., "tier_id": BRONZE}, 400, ["has `tier_id`", "mean `tierId`"]),
        ({"tierId": "bronce"}, 400, [f"Did you mean {BRONZE}?"]),
        ({"tierId": "zzz"}, 400, ["No such tier", "GET /partner/tiers?gameId="]),
        ({"tierId": LIVE_TIER}, 400, ["a tier of live, and the key is one of test"]),
        ({"stakeUsdCents": 1}, 400, ["floor of 100 cents", "5 dollars are 500"]),
        ({"stakeUsdCents": 181}, 400, ["prize of 180 cents"]),
        ({"idempotencyKey": ...}, 400, ["`idempotencyKey` is required."]),
    ],
)
def test_a_refused_seat_says_what_to_send_instead(
    client: SyncClient,
    known: Partner,
    fields: dict[str, object],
    status: int,
    sentences: list[str],
) -> None:
    reply = _seat(client, known, fields)
    assert reply.status == status
    for sentence in sentences:
        assert sentence in reply.json["error"], reply.json["error"]


def test_the_refusal_of_an_unserved_version_names_the_served_ones(
    client: SyncClient, known: Partner
) -> None:
    headers = [("X-Service-Api-Version", "2")]
    reply = client.call("GET", "/partner/me", known.test, headers=headers)
    assert reply.reason == "unsupported_api_version"
    assert "Name a served one (1)" in reply.json["error"]


def test_the_refusal_of_an_unknown_invoice_status_names_the_known_ones(
    client: SyncClient, known: Partner
) -> None:
    error = client.call("GET", "/partner/invoices?status=foo", known.test).json["error"]
    assert "Send draft, open, paid, void or all" in error


def test_the_refusal_of_the_outcome_draw_says_how_to_send_a_draw(
    client: SyncClient, known: Partner
) -> None:
    path = "/partner/test/matches/mat_abc/decide"
    reply = client.call("POST", path, known.test, {"outcome": "draw"})
    assert (reply.status, reply.reason) == (400, None)
    assert "A draw is `ended` with `winnerPlayerId` null." in reply.json["error"]


def test_the_refusal_of_an_api_key_at_the_game_api_says_what_to_send(
    client: SyncClient, known: Partner
) -> None:
    reply = client.call("GET", "/game/session", known.test)
    assert (reply.status, reply.reason) == (401, None)
    assert "session token, from `POST /partner/sessions`" in reply.json["error"]


def test_the_refusal_of_an_idempotency_key_in_a_header_points_to_the_body(
    client: SyncClient, known: Partner
) -> None:
    reply = _seat(client, known, {"idempotencyKey": ...}, [("Idempotency-Key", "one")])
    assert "send its value as the field `idempotencyKey`" in reply.json["error"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/partner/matches/sea_abc", "the id of a seat. The id of a match begins with mat_"),
        ("/partner/seats/mat_abc", "the id of a match. The id of a seat begins with sea_"),
        ("/partner/seats/abc", "No such seat"),
        ("/partner/seats/sea_abc", "No such seat"),
        ("/partner/tiers?game_id=x", "has `game_id`, which is not read: did you mean `gameId`?"),
        ("/partner/tiers", "parameter `gameId` is required."),
        ("/partner/usage?from=1&to=2", "parameter `from` must be a real UTC date"),
        ("/partner/usage?from=20200101&to=20210101", "at most 92 days"),
        ("/partner/usage?from=20990101&to=20990101", "final day"),
    ],
)
def test_a_refused_read_says_what_to_ask_for_instead(
    client: SyncClient, known: Partner, path: str, sentence: str
) -> None:
    assert sentence in client.call("GET", path, known.test).json["error"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6 (byte 15)"),
        (b"{'a': 1}", "JSON has double quotes"),
        (b'{"a": 1,}', "Leave out the comma before it"),
        (b'{"a": [1, ]}', "Leave out the comma before it"),
        (b'{"a": "x" "b": 2}', "A comma is missing before it"),
        (b'{"a": 1 "b": 2}', "A comma is missing before it"),
        (b'{"a": true "b": 2}', "A comma is missing before it"),
        (b"{a: 1}", "Put the name in double quotes"),
        (b'{"a": 1, b: 2}', "Put the name in double quotes"),
        (b'{"a": 1 // one\n}', "JSON has no comments"),
        (b'{"a": 1} x', "(byte 11) on."),
        (b'{"a": ', "ends too early"),
        (b'{"a": "\xff"}', "column 8 (byte 8) is not UTF-8"),
        (b'{"a": 1e999, b}', "line 1, column 14 (byte 14)"),
        (b"gameId=tic-tac-toe&playerId=p", "form-encoded"),
        (b"--x\r\nContent-Disposition: form-data", "multipart form"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"[]", "must be a JSON object"),
    ],
)
def test_the_refusal_of_a_body_that_is_no_json_object_says_what_it_is(
    client: SyncClient, known: Partner, content: bytes, sentence: str
) -> None:
    reply = client.call("POST", "/partner/sessions", known.test, content=content)
    assert (reply.status, reply.reason) == (400, None)
    assert sentence in reply.json["error"]


def test_the_refusal_of_too_large_a_body_names_the_limit(
    client: SyncClient, known: Partner
) -> None:
    content = b"x" * (DEFAULT_BODY_BYTES + 1)
    reply = client.call("POST", "/partner/sessions", known.test, content=content)
    assert reply.status == 413
    assert f"larger than {DEFAULT_BODY_BYTES} bytes" in reply.json["error"]


def test_the_refusal_of_a_browsers_preflight_says_that_keys_belong_on_servers(
    client: SyncClient,
) -> None:
    headers = [("Origin", "https://a.example"), ("Access-Control-Request-Method", "POST")]
    reply = client.call("OPTIONS", "/partner/sessions", headers=headers)
    assert (reply.status, reply.header("allow")) == (405, "POST")
    assert "API keys belong on servers" in reply.json["error"]
    plain = client.call("OPTIONS", "/partner/sessions")
    assert "servers" not in plain.json["error"]


def test_an_absolute_target_is_taken_as_its_path_and_query(
    client: SyncClient, known: Partner
) -> None:
    def ask(target: str) -> Reply:
        head = f"GET {target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {known.test}\r\n"
        return client.raw(head.encode() + b"Connection: close\r\n\r\n", "/partner/tiers")

    assert ok(ask(f"http://else.example/partner/tiers?gameId={BOTH}"))["gameId"] == BOTH
    assert ok(ask(f"HTTPS://else.example:8443/partner/tiers?gameId={BOTH}"))["gameId"] == BOTH
    assert ask("http://else.example/partner/tiers?").reason == "missing_parameter"


async def test_the_admin_api_says_what_to_send_instead(admin: AdminClient) -> None:
    public = admin.service.public
    nothing = await public.call("GET", "/partner/admin/account")
    assert "has no identity token" in nothing.json["error"]
    key = await public.call("GET", "/partner/admin/account", "pgs_test_" + "a" * 46)
    assert "An API key is not taken here" in key.json["error"]
    game = await admin.call("POST", "games/tic_tac_toe/test")
    assert f"Did you mean {BOTH}?" in game.json["error"]
    body = {"environment": "live", "origin": "http://shop.example"}
    origin = await admin.call("POST", "origins", body)
    assert (origin.reason, "https only" in origin.json["error"]) == ("invalid_origin", True)
    worse = await admin.call("POST", "origins", body | {"origin": "nonsense"})
    assert "https only" not in worse.json["error"]
    readiness = await admin.call_ok("GET", f"readiness?environment=test&gameId={BOTH}")
    assert not readiness["ready"]
    # Without a game, it is about the one that is on.
    assert await admin.call_ok("GET", "readiness?environment=test") == readiness
    told = {gate["gate"]: gate for gate in readiness["gates"] if not gate["ok"]}
    assert told["game_licensed"]["reason"] == "game_not_licensed"
    assert told["rake_terms_agreed"]["changeItAt"].endswith("/portal/test/terms")
    assert "factor_enrolled" not in told
    assert "reason" not in told["webhook_on"]


def test_readiness_for_a_game_that_the_platform_does_not_run_names_those_that_it_runs(
    client: SyncClient, known: Partner
) -> None:
    found = ok(client.call("GET", "/partner/readiness?gameId=poker", known.test))
    gates = {gate["gate"]: gate for gate in found["gates"]}
    for name in ("game_licensed", "tier_on_offer"):
        assert (gates[name]["ok"], gates[name]["reason"]) == (False, "game_not_licensed")
        assert "The platform runs no such game." in gates[name]["advice"]
        assert BOTH in gates[name]["advice"]
        assert "changeItAt" not in gates[name]


def test_a_partner_that_can_launch_is_ready_where_its_games_are_licensed(
    client: SyncClient, known: Partner
) -> None:
    for key, game_id, ready in (
        (known.test, BOTH, True),
        (known.test, TEST_ONLY, True),
        (known.live, TEST_ONLY, False),
        (known.test, "go", False),
    ):
        found = ok(client.call("GET", f"/partner/readiness?gameId={game_id}", key))
        assert (found["gameId"], found["ready"]) == (game_id, ready)
        seat = client.call(
            "POST", "/partner/matches", key, seat_body("ready", f"r-{game_id}", gameId=game_id)
        )
        reasons = {gate.get("reason") for gate in found["gates"]}
        assert seat.status == 200 if ready else seat.reason in reasons
    reply = client.call("GET", "/partner/readiness", known.test)
    assert (reply.reason, reply.json["parameter"]) == ("missing_parameter", "gameId")
