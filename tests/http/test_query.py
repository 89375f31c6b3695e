"""Which query strings are accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import BadRequest
from pgs.http.api.query import (
    MAX_PARAMETERS,
    REFUSED_BY_CALL,
    UNREADABLE,
    int_param,
    parse_query,
)

KNOWN = frozenset({"cursor", "limit"})


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", {}),
        (b"limit=5&cursor=a%2Bb+c", {"limit": "5", "cursor": "a+b c"}),
        (b"cursor=", {"cursor": ""}),
        (b"cursor", {"cursor": ""}),
        (b"cursor=a=b", {"cursor": "a=b"}),
        (b"lim%69t=5", {"limit": "5"}),
        (b"cursor=%C3%A9", {"cursor": "é"}),
        (b"x=1&y=2&limit=3&&", {"limit": "3"}),
        (b"x=1&x=1&limit=3&=1&=2", {"limit": "3"}),
        (b"x=%ff&y=%00&z=%&limit=3", {"limit": "3"}),
        (b"cursor%ff=a&%00=b&limit=3", {"limit": "3"}),
    ],
)
def test_known_parameters_are_decoded_and_others_ignored(raw: bytes, found: dict[str, str]) -> None:
    assert parse_query(raw, KNOWN) == found


@pytest.mark.parametrize(
    "raw",
    [
        b"limit=1&limit=1",
        b"limit=1&lim%69t=2",
        b"limit&limit",
        b"limit=%",
        b"limit=%4",
        b"limit=%zz",
        b"limit=%00",
        b"limit=\x00",
        b"limit=%ff",
        b"limit=%ED%A0%80",
        b"cursor=%ff&cursor=a",
        b"&" * MAX_PARAMETERS,
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_an_ambiguous_query_is_a_bad_request(raw: bytes) -> None:
    assert isinstance(parse_query(raw, KNOWN), BadRequest)


@pytest.mark.parametrize("name", sorted(REFUSED_BY_CALL))
@pytest.mark.parametrize("value", [b"%", b"%4", b"%zz", b"%00", b"\x00", b"%ff", b"%ED%A0%80"])
def test_a_value_that_is_not_text_is_passed_on_where_the_call_refuses_it_with_a_reason(
    name: str, value: bytes
) -> None:
    raw = b"limit=5&" + name.encode() + b"=" + value
    assert parse_query(raw, KNOWN | {name}) == {"limit": "5", name: UNREADABLE}
    assert parse_query(raw, frozenset({"limit"})) == {"limit": "5"}


@given(st.binary(max_size=100))
def test_no_bytes_make_parsing_raise(raw: bytes) -> None:
    parsed = parse_query(raw, KNOWN)
    assert isinstance(parsed, BadRequest) or parsed.keys() <= KNOWN


@pytest.mark.parametrize("text", ["1", "500", "007"])
def test_a_whole_number_in_range_is_taken(text: str) -> None:
    assert int_param({"limit": text}, "limit", 1, 500, 100) == int(text)


def test_a_missing_number_has_its_default() -> None:
    assert int_param({}, "limit", 1, 500, 100) == 100


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "501",
        "+1",
        "-1",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "1.0",
        "1e2",
        "\uff11",
        "\u0663",
        "0000001",
        "9" * 5000,
    ],
)
def test_any_other_number_is_a_bad_request_that_names_the_parameter(text: str) -> None:
    refused = int_param({"limit": text}, "limit", 1, 500, 100)
    assert isinstance(refused, BadRequest)
    assert "`limit`" in refused.message
