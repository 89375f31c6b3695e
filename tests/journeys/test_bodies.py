"""Which bodies are accepted: their JSON, their encoding, their numbers, and their lengths."""

import json

import msgspec
import pytest

from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import ENDPOINTS
from pgs.http.transport.edge import default_body_limit
from tests.journeys.bodies import INTEGER_PARAMETERS, NO_OBJECT, NOT_INTEGERS
from tests.journeys.client import Reply, SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE, Partner
from tests.journeys.ways import both_ways

shared = both_ways()

TAKES_BODY = [endpoint for endpoint in ENDPOINTS if endpoint.request is not None]


every_body = pytest.mark.parametrize(
    "endpoint", TAKES_BODY, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}"
)


BOMS = [
    ("utf-8-sig", b""),
    ("utf-16", b""),
    ("utf-16-le", b""),
    ("utf-16-be", b""),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-32", b""),
]


def type_of(endpoint: Endpoint, field: str) -> msgspec.inspect.Type:
    shape = msgspec.inspect.type_info(endpoint.request)
    assert isinstance(shape, msgspec.inspect.StructType)
    found = next(known.type for known in shape.fields if known.encode_name == field)
    # msgspec wraps a type that has limits or a description; the type inside is what is read.
    return found.type if isinstance(found, msgspec.inspect.Metadata) else found


def fields_of(endpoint: Endpoint) -> list[str]:
    shape = msgspec.inspect.type_info(endpoint.request)
    assert isinstance(shape, msgspec.inspect.StructType)
    return [field.encode_name for field in shape.fields]


def is_integer(shape: msgspec.inspect.Type) -> bool:
    kinds = shape.types if isinstance(shape, msgspec.inspect.UnionType) else (shape,)
    return any(isinstance(kind, msgspec.inspect.IntType) for kind in kinds)


def valid_value(field: str, shape: msgspec.inspect.Type) -> object:
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
            return valid_value(field, types[0])
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


def valid_body(endpoint: Endpoint) -> dict[str, object]:
    """Return a body with every field of the endpoint, each of the right type."""
    return {field: valid_value(field, type_of(endpoint, field)) for field in fields_of(endpoint)}


def send_body(client: SyncClient, endpoint: Endpoint, partner: Partner, content: bytes) -> Reply:
    path = "/".join(
        "unknown" if word.startswith("{") else word for word in endpoint.path.split("/")
    )
    return client.call(endpoint.method, path, partner.test, content=content)


@every_body
def test_a_body_with_every_field_is_accepted_by_every_endpoint(
    client: SyncClient, partner: Partner, endpoint: Endpoint
) -> None:
    """This shows that the refusals in the tests below have no other cause."""
    reply = send_body(client, endpoint, partner, json.dumps(valid_body(endpoint)).encode())
    assert reply.status in (200, 404), reply.content


@every_body
@pytest.mark.parametrize("content", NO_OBJECT, ids=lambda content: repr(content[:24]))
def test_a_body_that_is_no_json_object_is_a_plain_400(
    client: SyncClient, known: Partner, endpoint: Endpoint, content: bytes
) -> None:
    check_refusal(send_body(client, endpoint, known, content), 400, None)


@every_body
@pytest.mark.parametrize(("encoding", "mark"), BOMS)
def test_valid_json_in_another_encoding_or_after_a_byte_order_mark_is_a_plain_400(
    client: SyncClient, known: Partner, endpoint: Endpoint, encoding: str, mark: bytes
) -> None:
    check_refusal(
        send_body(
            client, endpoint, known, mark + json.dumps(valid_body(endpoint)).encode(encoding)
        ),
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
    reply = send_body(client, endpoint, known, place % levels)
    limit = endpoint.body_bytes or default_body_limit(endpoint.path)
    check_refusal(reply, 413 if limit < len(levels) else 400, None)


@every_body
@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "a\\udfff", "\\udc00\\ud800", "x\\u0000y"])
def test_nul_and_lone_surrogates_are_a_plain_400_wherever_they_are(
    client: SyncClient, known: Partner, endpoint: Endpoint, text: str
) -> None:
    whole = json.dumps(valid_body(endpoint))[1:-1]
    places = [
        f'"ignored": "{text}", {whole}',
        f'"{text}": 1, {whole}',
        f'{whole}, "deep": {{"er": ["{text}"]}}',
        f'"deep": [{{"{text}": 1}}]',
    ]
    places += [f'{whole}, "{field}": "{text}"' for field in fields_of(endpoint)]
    for place in places:
        check_refusal(send_body(client, endpoint, known, b"{%s}" % place.encode()), 400, None)


@every_body
def test_every_endpoint_refuses_a_repeated_name(
    client: SyncClient, known: Partner, endpoint: Endpoint
) -> None:
    whole = json.dumps(valid_body(endpoint))
    for field in fields_of(endpoint):
        again = f'"{field}": {json.dumps(valid_body(endpoint).get(field))}'
        for content in (f"{{{again}, {again}, {whole[1:]}", f"{whole[:-1]}, {again}, {again}}}"):
            reply = send_body(client, endpoint, known, content.encode())
            check_refusal(reply, 400, None)
            assert reply.json["error"] == f"Field `{field}` is given more than once."
        reply = send_body(
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
    for field in fields_of(endpoint):
        for number in ("1e999", "-1e999", "9" * 5000):
            content = json.dumps({**valid_body(endpoint), field: None}).replace(
                f'"{field}": null', f'"{field}": {number}'
            )
            reply = send_body(client, endpoint, known, content.encode())
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


def _integer_fields() -> list[tuple[Endpoint, str, str]]:
    """Return every integer field of every body, under each of its names."""
    found = []
    for endpoint in TAKES_BODY:
        for field in fields_of(endpoint):
            if is_integer(type_of(endpoint, field)):
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
    body = valid_body(endpoint)
    del body[field]
    content = json.dumps(body)[:-1] + f', "{name}": {text}}}'
    check_plain(send_body(client, endpoint, known, content.encode()), field)


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


TEXT_PARAMETERS = {"cursor", "gameId"}


def test_every_query_parameter_is_covered_by_these_tests() -> None:
    assert (
        set().union(*(endpoint.query for endpoint in ENDPOINTS))
        <= INTEGER_PARAMETERS | TEXT_PARAMETERS
    )
