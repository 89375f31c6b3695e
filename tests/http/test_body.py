"""Which bodies of requests are accepted, and what a refusal says about them."""

import json
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import BadRequest
from pgs.http.api.body import MAX_SAFE_INTEGER, Cents, SafeInt, convert, decode_object


class Seating(msgspec.Struct, rename="camel", frozen=True):
    stake_usd_cents: Cents
    display_name: str | None = None
    environment: Literal["test", "live"] = "test"
    plies: list[SafeInt] = []
    label: Annotated[str, msgspec.Meta(max_length=3)] = ""
    ttl: int = 60
    outcome: Annotated[
        Literal["ended", "no_contest"], msgspec.Meta(description="A draw is `ended`.")
    ] = "ended"
    side: Annotated[Literal["a", "b"], msgspec.Meta(title="Side")] = "a"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"1",
        b"{} x",
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1e400}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":"\xff"}',
        b'{"\xff":1}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00x"}',
        b'{"\\ud800":1}',
        b'{"a":"\\u0000"}',
        b'{"a":{"b":[{"\\u0000":1}]}}',
        b'{"a":"\x00"}',
        b'{"a":' + b"[" * 60_000,
        b'{"a":' + b"[" * 60_000 + b"]" * 60_000 + b"}",
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_a_body_that_is_no_valid_json_object_is_a_bad_request(raw: bytes) -> None:
    assert isinstance(decode_object(raw), BadRequest)


def test_values_and_names_of_a_body_are_returned_unchanged() -> None:
    assert decode_object(b' {"a": [1, 1.5, true, null, "\\u00e9\\ud83d\\ude00"], "a\\n": {}} ') == {
        "a": [1, 1.5, True, None, "é😀"],
        "a\n": {},
    }


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"a":1,"a":1}', "Field `a` is given more than once."),
        (b'{"a":1,"\\u0061":2}', "Field `a` is given more than once."),
        (b'{"a":{"b":1,"c":2,"b":{}}}', "Field `b` is given more than once."),
        (b'{"a":[{"b":":"},{"b":1,"b":1}]}', "Field `b` is given more than once."),
        (
            b'{"pgs_test_secret":1,"pgs_test_secret":1}',
            "A field of the body is given more than once.",
        ),
        (b'{"a":1,"stakeUsdCents":1e999}', "Field `stakeUsdCents` is too large a number."),
        (b'{"a":{"b":-1e999}}', "Field `b` is too large a number."),
        (b'{"a":[1e999]}', "A number in the body is too large."),
        (b'{"a":' + b"9" * 5000 + b"}", "Field `a` is too large a number."),
    ],
)
def test_the_refusal_of_a_repeated_name_or_too_large_a_number_names_the_field(
    raw: bytes, message: str
) -> None:
    assert decode_object(raw) == BadRequest(message)


NAMES = st.sampled_from(["a", "b", ":", '"', "é", "a:b"])
VALUES = st.recursive(
    st.none() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=4))
def test_a_repeated_name_is_told_apart_from_a_colon_in_a_text(
    pairs: list[tuple[str, object]],
) -> None:
    raw = "{" + ",".join(f"{json.dumps(name)} : {json.dumps(value)}" for name, value in pairs) + "}"
    names = [name for name, _ in pairs]
    assert isinstance(decode_object(raw.encode()), dict) == (len(names) == len(set(names)))


def test_text_is_checked_at_any_depth_that_can_be_read() -> None:
    depth = 500
    assert isinstance(
        decode_object(b'{"a":' + b"[" * depth + b'"\\u0000"' + b"]" * depth + b"}"), BadRequest
    )
    assert isinstance(
        decode_object(b'{"a":' + b"[" * depth + b'"\\u0001"' + b"]" * depth + b"}"), dict
    )


@given(st.binary(max_size=200))
def test_no_bytes_make_decoding_raise(raw: bytes) -> None:
    assert isinstance(decode_object(raw), dict | BadRequest)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Field `stakeUsdCents` is required."),
        (
            {"stakeUsdCents": "5.00"},
            "Field `stakeUsdCents` must be an integer. Send it without quotes. Amounts are in "
            "whole cents: 5 dollars are 500.",
        ),
        ({"stakeUsdCents": True}, "Field `stakeUsdCents` must be an integer."),
        (
            {"stakeUsdCents": 500.0},
            "Field `stakeUsdCents` must be an integer. Send it without a decimal point or an "
            "exponent. Amounts are in whole cents: 5 dollars are 500.",
        ),
        (
            {"stakeUsdCents": 1, "ttl": "60"},
            "Field `ttl` must be an integer. Send it without quotes.",
        ),
        (
            {"stakeUsdCents": 1, "outcome": "draw"},
            "Field `outcome` must be ended or no_contest. A draw is `ended`.",
        ),
        ({"stakeUsdCents": 1, "side": "c"}, "Field `side` must be a or b."),
        ({"stakeUsdCents": None}, "Field `stakeUsdCents` must be an integer."),
        (
            {"stakeUsdCents": 2**53 + 1},
            f"Field `stakeUsdCents` must be an integer of at most {MAX_SAFE_INTEGER}.",
        ),
        (
            {"stakeUsdCents": -(10**20)},
            f"Field `stakeUsdCents` must be an integer of at least {-MAX_SAFE_INTEGER}.",
        ),
        ({"stakeUsdCents": 1, "displayName": 3}, "Field `displayName` must be a string or null."),
        (
            {"stakeUsdCents": 1, "environment": "secret"},
            "Field `environment` must be test or live.",
        ),
        ({"stakeUsdCents": 1, "plies": [1, "x"]}, "Field `plies[1]` must be an integer."),
        ({"stakeUsdCents": 1, "plies": {}}, "Field `plies` must be a list."),
        (
            {"stakeUsdCents": 1, "label": "abcd"},
            "Field `label` must be a string of at most 3 characters.",
        ),
    ],
)
def test_the_refusal_of_an_invalid_field_names_it(fields: dict[str, object], message: str) -> None:
    assert convert(fields, Seating) == BadRequest(message)


def test_unknown_fields_are_ignored_and_bounds_are_inclusive() -> None:
    assert convert({"stakeUsdCents": MAX_SAFE_INTEGER, "unknown": 10**40}, Seating) == Seating(
        stake_usd_cents=MAX_SAFE_INTEGER
    )


@given(
    st.dictionaries(
        st.sampled_from(["stakeUsdCents", "displayName", "environment", "plies", "label"]),
        st.text().map("§".__add__),
    )
)
def test_no_refusal_repeats_what_was_sent(fields: dict[str, str]) -> None:
    outcome = convert(fields, Seating)
    if isinstance(outcome, BadRequest):
        assert not any(value in outcome.message for value in fields.values())
