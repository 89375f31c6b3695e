"""Which bodies are accepted, and which of several faults is reported."""

import json
from collections.abc import Iterator

import msgspec
import pytest

from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import ENDPOINTS
from pgs.http.transport.edge import default_body_limit
from tests.journeys.client import Reply, SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE, LOCKED, UNKNOWN, Partner, seat_body

TAKES_BODY = [endpoint for endpoint in ENDPOINTS if endpoint.request is not None]
every_body = pytest.mark.parametrize(
    "endpoint", TAKES_BODY, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}"
)

NO_OBJECT = [
    b"",
    b" ",
    b"{",
    b"{}}",
    b"nothing",
    b"[]",
    b'[{"gameId":"tic-tac-toe"}]',
    b"null",
    b"true",
    b"7",
    b'"text"',
    b"{'gameId': 'tic-tac-toe'}",
    b'{"gameId": NaN}',
    b'{"gameId": Infinity}',
    b'{"gameId": "tic-tac-toe",}',
    b'{"gameId": "tic\ntac"}',
    b'{"a": "\xff"}',
    b'{"\xff": 1}',
    b'{"a": "\xc0\x80"}',
    b'{"a": "\xed\xa0\x80"}',
    b'{"a": "cut \xf0\x9f',
    b"[" * 60_000,
    b'{"a":' * 12_000,
    b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    b'{"x":' + b"9" * 5000 + b"}",
    b"gameId=tic-tac-toe&playerId=alice",
]
BOMS = [
    ("utf-8-sig", b""),
    ("utf-16", b""),
    ("utf-16-le", b""),
    ("utf-16-be", b""),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-32", b""),
]


def _type(endpoint: Endpoint, field: str) -> msgspec.inspect.Type:
    shape = msgspec.inspect.type_info(endpoint.request)
    assert isinstance(shape, msgspec.inspect.StructType)
    found = next(known.type for known in shape.fields if known.encode_name == field)
    # A type can have a schema of its own around it, which changes nothing that is read.
    return found.type if isinstance(found, msgspec.inspect.Metadata) else found


def _fields(endpoint: Endpoint) -> list[str]:
    shape = msgspec.inspect.type_info(endpoint.request)
    assert isinstance(shape, msgspec.inspect.StructType)
    return [field.encode_name for field in shape.fields]


def _is_integer(shape: msgspec.inspect.Type) -> bool:
    kinds = shape.types if isinstance(shape, msgspec.inspect.UnionType) else (shape,)
    return any(isinstance(kind, msgspec.inspect.IntType) for kind in kinds)


def _value(field: str, shape: msgspec.inspect.Type) -> object:
    """Return a value that the field accepts."""
    known = {
        "gameId": BOTH,
        "playerId": "alice",
        "tierId": BRONZE,
        "primaryColor": "#1f5fd1",
        "backgroundColor": "#ffffff",
        "textColor": "#1c1f24",
        "cornerRadius": 8,
        "logo": None,
    }
    if field in known:
        return known[field]
    match shape:
        case msgspec.inspect.UnionType(types=types):
            return _value(field, types[0])
        case msgspec.inspect.IntType(ge=least):
            return max(least or 0, 100)
        case msgspec.inspect.LiteralType(values=values):
            return values[-1]
        case msgspec.inspect.StrType():
            return "text"
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.DictType():
            return {}
    raise AssertionError(f"Say what `{field}` takes: {shape}")


def _valid(endpoint: Endpoint) -> dict[str, object]:
    """Return a body with every field of the endpoint, each of the right type."""
    return {field: _value(field, _type(endpoint, field)) for field in _fields(endpoint)}


def _send(client: SyncClient, endpoint: Endpoint, partner: Partner, content: bytes) -> Reply:
    path = "/".join(
        "unknown" if word.startswith("{") else word for word in endpoint.path.split("/")
    )
    return client.call(endpoint.method, path, partner.test, content=content)


@every_body
def test_a_body_with_every_field_is_taken_by_every_endpoint(
    client: SyncClient, partner: Partner, endpoint: Endpoint
) -> None:
    """This shows that the refusals in the tests below have no other cause."""
    reply = _send(client, endpoint, partner, json.dumps(_valid(endpoint)).encode())
    assert reply.status in (200, 404), reply.content


@every_body
@pytest.mark.parametrize("content", NO_OBJECT, ids=lambda content: repr(content[:24]))
def test_a_body_that_is_no_json_object_is_a_plain_400(
    client: SyncClient, known: Partner, endpoint: Endpoint, content: bytes
) -> None:
    check_refusal(_send(client, endpoint, known, content), 400, None)


@every_body
@pytest.mark.parametrize(("encoding", "mark"), BOMS)
def test_valid_json_in_another_encoding_or_after_a_byte_order_mark_is_a_plain_400(
    client: SyncClient, known: Partner, endpoint: Endpoint, encoding: str, mark: bytes
) -> None:
    check_refusal(
        _send(client, endpoint, known, mark + json.dumps(_valid(endpoint)).encode(encoding)),
        400,
        None,
    )


@every_body
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("place", [b"%s", b'{"ignored": %s}'], ids=["bare", "in a field"])
def test_json_with_100000_levels_is_refused_in_the_error_shape(
    client: SyncClient, known: Partner, endpoint: Endpoint, place: bytes, closed: bool
) -> None:
    levels = b"[" * 100_000 + (b"]" * 100_000 if closed else b"")
    reply = _send(client, endpoint, known, place % levels)
    limit = endpoint.body_bytes or default_body_limit(endpoint.path)
    check_refusal(reply, 413 if limit < len(levels) else 400, None)


@every_body
@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "a\\udfff", "\\udc00\\ud800", "x\\u0000y"])
def test_nul_and_lone_surrogates_are_a_plain_400_wherever_they_are(
    client: SyncClient, known: Partner, endpoint: Endpoint, text: str
) -> None:
    whole = json.dumps(_valid(endpoint))[1:-1]
    places = [
        f'"ignored": "{text}", {whole}',
        f'"{text}": 1, {whole}',
        f'{whole}, "deep": {{"er": ["{text}"]}}',
        f'"deep": [{{"{text}": 1}}]',
    ]
    places += [f'{whole}, "{field}": "{text}"' for field in _fields(endpoint)]
    for place in places:
        check_refusal(_send(client, endpoint, known, b"{%s}" % place.encode()), 400, None)


@every_body
def test_every_endpoint_refuses_a_repeated_name(
    client: SyncClient, known: Partner, endpoint: Endpoint
) -> None:
    whole = json.dumps(_valid(endpoint))
    for field in _fields(endpoint):
        again = f'"{field}": {json.dumps(_valid(endpoint).get(field))}'
        for content in (f"{{{again}, {again}, {whole[1:]}", f"{whole[:-1]}, {again}, {again}}}"):
            reply = _send(client, endpoint, known, content.encode())
            check_refusal(reply, 400, None)
            assert reply.json["error"] == f"Field `{field}` is given more than once."
        reply = _send(
            client,
            endpoint,
            known,
            f'{whole[:-1]}, "more": {{"{field}": 1, "{field}": 1}}}}'.encode(),
        )
        check_refusal(reply, 400, None)


@every_body
def test_every_endpoint_names_a_field_whose_number_is_too_large(
    client: SyncClient, known: Partner, endpoint: Endpoint
) -> None:
    for field in _fields(endpoint):
        for number in ("1e999", "-1e999", "9" * 5000):
            content = json.dumps({**_valid(endpoint), field: None}).replace(
                f'"{field}": null', f'"{field}": {number}'
            )
            reply = _send(client, endpoint, known, content.encode())
            check_refusal(reply, 400, None)
            assert reply.json["error"] == f"Field `{field}` is too large a number."


def test_escaped_pairs_of_surrogates_are_text(client: SyncClient, known: Partner) -> None:
    content = (
        f'{{"gameId": "{BOTH}", "playerId": "alice", '
        '"displayName": "\\ud83c\\udfb2", "ignored": "\\u00e9"}'
    )
    ok(client.call("POST", "/partner/sessions", known.test, content=content.encode()))


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "multipart/form-data; boundary=x",
    ],
)
def test_the_content_type_is_ignored(
    client: SyncClient, known: Partner, content_type: str | None
) -> None:
    headers = [] if content_type is None else [("Content-Type", content_type)]
    body = json.dumps(
        {"gameId": BOTH, "playerId": "alice", "displayName": "Ål"}, ensure_ascii=False
    ).encode()
    ok(client.call("POST", "/partner/sessions", known.test, headers=headers, content=body))


NOT_INTEGERS = [
    "100.0",
    "1e2",
    "true",
    '"100"',
    "null",
    "[100]",
    "{}",
    str(2**53 + 1),
    str(2**63),
    str(10**20),
    str(-(2**53) - 1),
    "1" * 400,
]


def _integer_fields() -> list[tuple[Endpoint, str, str]]:
    """Return every integer field of every body, under each of its names."""
    found = []
    for endpoint in TAKES_BODY:
        for field in _fields(endpoint):
            if _is_integer(_type(endpoint, field)):
                others = [other for other, name in endpoint.spellings.items() if name == field]
                found += [(endpoint, field, name) for name in (field, *others)]
    return found


@pytest.mark.parametrize("text", NOT_INTEGERS, ids=lambda text: str(text)[:24])
@pytest.mark.parametrize(
    ("endpoint", "field", "name"),
    _integer_fields(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_value_that_is_no_plain_integer_is_a_plain_400_in_every_integer_field(
    client: SyncClient, known: Partner, endpoint: Endpoint, field: str, name: str, text: str
) -> None:
    body = _valid(endpoint)
    del body[field]
    content = json.dumps(body)[:-1] + f', "{name}": {text}}}'
    check_plain(_send(client, endpoint, known, content.encode()), field)


def test_all_known_integer_fields_are_tested() -> None:
    assert {name for _, _, name in _integer_fields()} >= {
        "ttlSeconds",
        "stakeUsdCents",
        "yourStakeUsdCents",
    }


@pytest.mark.parametrize("text", ["59", "3601", "0", "-60"])
def test_a_lifetime_that_is_not_from_60_to_3600_is_a_plain_400(
    client: SyncClient, known: Partner, text: str
) -> None:
    content = f'{{"gameId": "{BOTH}", "playerId": "alice", "ttlSeconds": {text}}}'
    check_plain(
        client.call("POST", "/partner/sessions", known.test, content=content.encode()), "ttlSeconds"
    )


INTEGER_PARAMETERS = {"limit", "since", "waitSeconds"}
TEXT_PARAMETERS = {"cursor", "gameId"}


def test_these_tests_cover_every_query_parameter() -> None:
    assert (
        set().union(*(endpoint.query for endpoint in ENDPOINTS))
        <= INTEGER_PARAMETERS | TEXT_PARAMETERS
    )


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
def test_an_idempotency_key_of_128_plain_characters_is_taken(
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
