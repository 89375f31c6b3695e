"""A body that is decoded at once has the value that reading it step by step gives."""

import random

import msgspec
import pytest

from pgs.domain.errors import BadRequest
from pgs.http.api.body import convert, decode_object, plain_reader
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.partner.seats import TakeSeat
from pgs.http.partner.sessions import MintSession

SEAT = {
    "playerId": "p-1",
    "gameId": "chess",
    "tierId": "bronze",
    "stakeUsdCents": 100,
    "idempotencyKey": "k-1",
}
NAMES = [*SEAT, "partnerRef", "displayName", "ttlSeconds", "tier", "x", "gameId\\u0000", ""]
VALUES = ['"a"', '"ttlSeconds"', '"a:b"', '"\\u0000"', '"\\ud800"', '"\\n"', '"é"', '""', "100"]
VALUES += ["100.0", "1e2", "-0", "9007199254740993", "1e400", "true", "null", "{}", "[]", "NaN"]
VALUES += ['{"gameId":"x"}', '["partnerRef"]', "9" * 5000, "[" * 2000, "+1", "01", '"\\"a\\":"']
BREAKS = [b"\xef\xbb\xbf", b"\xff", b"\0", b",", b"{", b"}", b'"', b":", b"\\", b" ", b"\n"]


def with_care(raw: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct | BadRequest:
    fields = decode_object(raw)
    return fields if isinstance(fields, BadRequest) else convert(fields, kind)


def bodies(number: int, seed: int) -> list[bytes]:
    """Return bodies of launches: some are as they should be, most have one fault or several."""
    chance = random.Random(seed)
    made = []
    for _ in range(number):
        fields = [(name, msgspec.json.encode(value).decode()) for name, value in SEAT.items()]
        for _ in range(chance.randrange(3)):
            fields.append((chance.choice(NAMES), chance.choice(VALUES)))
            del fields[chance.randrange(len(fields)) : chance.choice([0, None, -1])]
        chance.shuffle(fields)
        between = chance.choice([":", ":", " : "])
        pairs = ",".join(f'"{name}"{between}{value}' for name, value in fields)
        raw = f"{{{pairs}}}".encode()
        if chance.random() < 0.2:
            at = chance.randrange(len(raw) + 1)
            raw = raw[:at] + chance.choice(BREAKS) + raw[at:]
        made.append(raw)
    return made


@pytest.mark.parametrize("kind", [TakeSeat, MintSession])
def test_a_body_decoded_at_once_is_the_one_read_step_by_step(kind: type[msgspec.Struct]) -> None:
    at_once = 0
    for raw in bodies(5_000, seed=1):
        body = plain_reader(kind).read(raw)
        if body is not None:
            at_once += 1
            assert body == with_care(raw, kind), raw
    assert at_once > 50


@pytest.mark.parametrize(
    "raw",
    [
        b'{"gameId":"g","gameId":"g","playerId":"ttlSeconds"}',
        b'{"gameId":"g","playerId":"p","playerId":"q"}',
        b'{"gameId":"g","playerId":"a\\u0000"}',
        b'{"gameId":"g"}',
        b'{"gameId":"g","playerId":"p","ttlSeconds":1}',
        b'{"gameId":"g","playerId":"p"}x',
    ],
)
def test_a_body_with_a_fault_is_not_decoded_at_once(raw: bytes) -> None:
    assert plain_reader(MintSession).read(raw) is None
    assert isinstance(with_care(raw, MintSession), BadRequest)


def test_a_usual_launch_is_read_at_once() -> None:
    whole = {**SEAT, "partnerRef": "order-1"}
    for body in (SEAT, whole):
        assert plain_reader(TakeSeat).read(msgspec.json.encode(body)) is not None
    session = {"gameId": "chess", "playerId": "p", "ttlSeconds": 60, "displayName": "Ann"}
    assert plain_reader(MintSession).read(msgspec.json.encode(session)) is not None


def test_every_type_of_request_has_a_reader() -> None:
    for endpoint in ENDPOINTS:
        if endpoint.request is not None:
            assert plain_reader(endpoint.request).read(b"{") is None
