"""Which fields and parameters are accepted, and which of several faults is reported."""

import json
from collections.abc import Iterator

import pytest

from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import ENDPOINTS
from tests.journeys.bodies import INTEGER_PARAMETERS
from tests.journeys.client import SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE, LOCKED, UNKNOWN, Partner, seat_body
from tests.journeys.ways import both_ways

shared = both_ways()


@pytest.mark.parametrize(
    "value",
    [
        "%EF%BC%91",
        "%D9%A1",
        "%E0%A5%A7",
        "+1",
        "%2B1",
        "-1",
        "%201",
        "1%20",
        "1%0A",
        "1_0",
        "1.0",
        "1e1",
        "0x1",
        "%C2%B9",
        "",
        "9" * 50,
    ],
)
@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        (endpoint, name)
        for endpoint in ENDPOINTS
        for name in sorted(endpoint.query & INTEGER_PARAMETERS)
    ],
    ids=lambda value: value if isinstance(value, str) else value.path,
)
def test_an_integer_in_a_query_is_plain_digits(
    client: SyncClient, known: Partner, endpoint: Endpoint, name: str, value: str
) -> None:
    path = "/".join(
        "unknown" if word.startswith("{") else word for word in endpoint.path.split("/")
    )
    check_plain(client.call(endpoint.method, f"{path}?{name}={value}", known.test), name)


@pytest.mark.parametrize("seconds", [60, 61, 3600])
def test_a_token_has_the_lifetime_that_was_asked_for(
    client: SyncClient, known: Partner, seconds: int
) -> None:
    session = ok(
        client.call(
            "POST",
            "/partner/sessions",
            known.test,
            {"gameId": BOTH, "playerId": "alice", "ttlSeconds": seconds},
        )
    )
    assert session["expiresAt"] - session["issuedAt"] == seconds


@pytest.mark.parametrize(
    ("path", "field", "limit"),
    [("/partner/sessions", "displayName", 64), ("/partner/matches", "partnerRef", 128)],
)
def test_a_text_is_bounded_in_characters(
    client: SyncClient, known: Partner, path: str, field: str, limit: int
) -> None:
    for number, character in enumerate(("x", "é", "🎲")):
        body = seat_body("alice", f"text-{number}", **{field: character * limit})
        ok(client.call("POST", path, known.test, body))
        body = seat_body("alice", f"long-{number}", **{field: character * (limit + 1)})
        check_plain(client.call("POST", path, known.test, body), field)


@pytest.mark.parametrize(
    ("path", "field", "values"),
    [
        ("/partner/sessions", "displayName", ["a\nb", "\u202eann", "a\u200bb", "  "]),
        ("/partner/matches", "partnerRef", ["a\nb", "\x7f"]),
    ],
)
def test_a_text_with_a_control_character_is_a_plain_400_that_names_its_field(
    client: SyncClient, known: Partner, path: str, field: str, values: list[str]
) -> None:
    for value in values:
        body = seat_body("alice", "controls", **{field: value})
        check_plain(client.call("POST", path, known.test, body), field)


@pytest.mark.parametrize("value", [None, 7, True, ["x"], {}])
@pytest.mark.parametrize(
    ("path", "field"), [("/partner/sessions", "displayName"), ("/partner/matches", "partnerRef")]
)
def test_an_optional_text_of_another_type_is_a_plain_400(
    client: SyncClient, known: Partner, path: str, field: str, value: object
) -> None:
    check_plain(
        client.call("POST", path, known.test, seat_body("alice", "types", **{field: value})), field
    )


@pytest.mark.parametrize("value", [None, 7, True, [BOTH], {}, 1.5])
@pytest.mark.parametrize("path", ["/partner/sessions", "/partner/matches"])
def test_a_game_that_is_missing_or_no_string_is_a_plain_400_before_any_other_check(
    client: SyncClient, known: Partner, path: str, value: object
) -> None:
    check_plain(
        client.call("POST", path, known.test, {"gameId": value, "playerId": "not one!"}), "gameId"
    )
    check_plain(client.call("POST", path, known.test, {"playerId": "not one!"}), "gameId")
    check_plain(client.call("POST", path, known.test, {}), "gameId")


@pytest.mark.parametrize("field", ["tierId", "stakeUsdCents", "idempotencyKey"])
def test_a_missing_field_is_a_plain_400_that_names_it(
    client: SyncClient, known: Partner, field: str
) -> None:
    body = seat_body("alice", "missing")
    del body[field]
    check_plain(client.call("POST", "/partner/matches", known.test, body), field)


@pytest.mark.parametrize("field", ["tierId", "idempotencyKey"])
@pytest.mark.parametrize("value", [None, 7, True, ["x"], {}])
def test_a_field_of_another_type_is_a_plain_400_that_names_it(
    client: SyncClient, known: Partner, field: str, value: object
) -> None:
    check_plain(
        client.call(
            "POST", "/partner/matches", known.test, seat_body("alice", "typed") | {field: value}
        ),
        field,
    )


@pytest.mark.parametrize("value", ["", "x" * 129, "a b", "é", "a/b", "a\n", "\uff11", "a+b"])
def test_a_malformed_idempotency_key_is_a_plain_400(
    client: SyncClient, known: Partner, value: str
) -> None:
    check_plain(
        client.call("POST", "/partner/matches", known.test, seat_body("alice", value)),
        "idempotencyKey",
    )


@pytest.mark.parametrize("value", ["x", "x" * 128, "A-z_0.9:x", ":", "."])
def test_an_idempotency_key_of_128_plain_characters_is_accepted(
    client: SyncClient, partner: Partner, value: str
) -> None:
    assert (
        ok(client.call("POST", "/partner/matches", partner.test, seat_body("alice", value)))[
            "idempotencyKey"
        ]
        == value
    )


def test_both_names_of_a_field_are_accepted_and_must_agree(
    client: SyncClient, partner: Partner
) -> None:
    def seat(key: str, **fields: object) -> dict[str, object]:
        body = seat_body("alice", key)
        del body["tierId"], body["stakeUsdCents"]
        return body | fields

    call = client.call
    ok(
        call(
            "POST", "/partner/matches", partner.test, seat("a", tier=BRONZE, yourStakeUsdCents=100)
        )
    )
    ok(
        call(
            "POST",
            "/partner/matches",
            partner.test,
            seat("b", tier=BRONZE, tierId=BRONZE, yourStakeUsdCents=100, stakeUsdCents=100),
        )
    )
    disagreeing: tuple[dict[str, object], ...] = (
        {"tierId": BRONZE, "tier": LOCKED, "stakeUsdCents": 100},
        {"tierId": BRONZE, "stakeUsdCents": 100, "yourStakeUsdCents": 101},
        {"tierId": BRONZE, "stakeUsdCents": 100, "yourStakeUsdCents": "100"},
        {"tierId": BRONZE, "stakeUsdCents": 100, "yourStakeUsdCents": None},
        {"tierId": None, "tier": BRONZE, "stakeUsdCents": 100},
        {"tierId": BRONZE, "stakeUsdCents": 1, "yourStakeUsdCents": True},
    )
    for number, fields in enumerate(disagreeing):
        check_refusal(
            call("POST", "/partner/matches", partner.test, seat(f"c{number}", **fields)), 400, None
        )


def test_unknown_fields_are_ignored_however_deep(client: SyncClient, known: Partner) -> None:
    deep = "[" * 200 + "]" * 200
    content = f'{{"gameId": "{BOTH}", "playerId": "alice", "more": {deep}, "__proto__": {{}}}}'
    ok(client.call("POST", "/partner/sessions", known.test, content=content.encode()))


def test_a_body_of_64_kib_is_read_and_one_byte_more_is_413(
    client: SyncClient, known: Partner
) -> None:
    body = json.dumps({"gameId": BOTH, "playerId": "alice"}).encode()
    ok(client.call("POST", "/partner/sessions", known.test, content=body.ljust(65536)))
    for key in (known.test, None):
        reply = client.call("POST", "/partner/sessions", key, content=body.ljust(65537))
        check_refusal(reply, 413, None)


def test_a_chunked_body_that_grows_too_long_is_413(client: SyncClient, known: Partner) -> None:
    head = (
        f"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {known.test}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    reply = client.raw(head.encode() + chunk * 5, "/partner/sessions")
    check_refusal(reply, 413, None)


def test_a_chunked_body_is_read_whole(client: SyncClient, known: Partner) -> None:
    def pieces() -> Iterator[bytes]:
        for byte in json.dumps({"gameId": BOTH, "playerId": "alice"}).encode():
            yield b"1\r\n%c\r\n" % byte
        yield b"0\r\n\r\n"

    head = (
        "POST /partner/sessions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        f"Authorization: Bearer {known.test}\r\n"
    )
    ok(
        client.raw(
            head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(pieces()),
            "/partner/sessions",
        )
    )


def test_the_body_of_a_read_is_ignored(client: SyncClient, known: Partner) -> None:
    ok(client.call("GET", "/partner/me", known.test, content=b"{nonsense"))
    ok(client.call("GET", "/partner/me", known.test, {"environment": "live"}))


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "outcome"),
        ({"outcome": "won"}, "outcome"),
        ({"outcome": None}, "outcome"),
        ({"outcome": 1}, "outcome"),
        ({"outcome": "ended"}, "winnerPlayerId"),
        ({"outcome": "ended", "winnerPlayerId": 7}, "winnerPlayerId"),
        ({"outcome": "no_contest", "winnerPlayerId": []}, "winnerPlayerId"),
    ],
)
def test_an_incomplete_decision_is_a_plain_400(
    client: SyncClient, known: Partner, body: dict[str, object], named: str
) -> None:
    check_plain(
        client.call("POST", "/partner/test/matches/mat_unknown/decide", known.test, body), named
    )


def test_an_unknown_game_is_refused_before_the_rest_of_the_body_is_checked(
    client: SyncClient, known: Partner
) -> None:
    check_refusal(
        client.call("POST", "/partner/matches", known.test, {"gameId": UNKNOWN}),
        403,
        "game_not_licensed",
    )
