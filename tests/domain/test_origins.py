import json
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.origins import MAX_ORIGINS, normalise_origin

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "origin_cases.json").read_text(encoding="utf-8")
)
CASES = [
    pytest.param(
        row["input"],
        environment,
        row.get("stored") if row["expect"] == "accept" else None,
        id=f"{environment}: {row['why']}",
    )
    for row in ROWS
    for environment in (ENVIRONMENTS if row["env"] == "both" else [row["env"]])
]


@pytest.mark.parametrize(("text", "environment", "stored"), CASES)
def test_every_case_has_its_expected_origin(
    text: str, environment: Environment, stored: str | None
) -> None:
    assert normalise_origin(text, environment) == stored


@pytest.mark.parametrize(
    "text",
    [
        "http://games.example.com",
        "http://localhost:3000",
        "https://127.0.0.1",
        "https://[::1]",
        "https://localhost",
    ],
)
def test_plain_http_localhost_and_ip_addresses_are_accepted_only_in_test(text: str) -> None:
    assert normalise_origin(text, "test") == text
    assert normalise_origin(text, "live") is None


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/",
        "https://example.com.",
        "https://intranet",
        "https://127.1",
        "https://0177.0.0.1",
        "https://127.0.0.01",
        "https://example.com:0443",
        "https://example.com:+1",
        "https://example.com:4\uff134",
        "http\u017f://example.com",
        "https://b\u00fccher.example",
        "https://xn--9.com",
        "https://xn--abc-.com",
        "https://[fe80::1%lo]",
        "https://[1.2.3.4]",
        "https://[]",
        "https://[:::]",
        "https://[1:2:3:4:5:6:7:8:9]",
        "",
        "\ud800",
    ],
)
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_text_that_no_browser_sends_as_an_origin_is_refused(
    text: str, environment: Environment
) -> None:
    assert normalise_origin(text, environment) is None


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("HTTPS://EXAMPLE.com", "https://example.com"),
        ("https://example.com:80", "https://example.com:80"),
        ("http://example.com:443", "http://example.com:443"),
        ("http://LocalHost:80", "http://localhost"),
        ("http://[0:0:0:0:0:0:0:1]:80", "http://[::1]"),
        ("http://[2001:DB8:0:0:1:0:0:1]", "http://[2001:db8::1:0:0:1]"),
        ("http://[1:0:2:3:4:5:6:7]", "http://[1:0:2:3:4:5:6:7]"),
        ("http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]"),
        ("http://[::]", "http://[::]"),
        ("http://[1::]", "http://[1::]"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("https://xn--i-7iq.example", "https://xn--i-7iq.example"),
        ("https://nas.lan", "https://nas.lan"),
    ],
)
def test_accepted_origins_are_stored_as_browsers_send_them(text: str, stored: str) -> None:
    assert normalise_origin(text, "test") == stored


@given(
    st.integers(0, 2**128 - 1)
    | st.lists(st.sampled_from([0, 0, 1, 0xFFFF]), min_size=8, max_size=8).map(
        lambda pieces: int("".join(f"{piece:04x}" for piece in pieces), 16)
    )
)
def test_ipv6_literals_keep_their_address_and_are_stored_in_one_spelling(number: int) -> None:
    address = IPv6Address(number)
    stored = normalise_origin(f"http://[{address.exploded}]", "test")
    assert stored is not None
    assert IPv6Address(stored[len("http://[") : -1]) == address
    assert (
        stored
        == normalise_origin(f"http://[{address}]", "test")
        == normalise_origin(stored, "test")
    )
    if address.ipv4_mapped is None:
        assert stored == f"http://[{address.compressed}]"


@pytest.mark.exhaustive
@given(st.text(max_size=40), st.sampled_from(ENVIRONMENTS))
def test_no_text_raises_and_a_stored_origin_is_safe_in_a_csp(
    text: str, environment: Environment
) -> None:
    for candidate in (
        text,
        f"https://{text}",
        f"https://{text}.com",
        f"https://xn--{text}.com",
        f"https://a.com{text}",
        f"http://[{text}]",
    ):
        stored = normalise_origin(candidate, environment)
        if stored is not None:
            assert stored == normalise_origin(stored, environment)
            assert stored.isascii()
            assert not set(stored) & set(" ;,'\"*/\\?#@%\r\n\t") - {"/"}
            assert stored.count("/") == 2


@given(st.text(alphabet="abz019-", max_size=59))
def test_a_label_of_any_punycode_is_kept_or_refused_without_an_exception(tail: str) -> None:
    stored = normalise_origin(f"https://xn--{tail}.com", "live")
    assert stored in (None, f"https://xn--{tail}.com")


def test_an_environment_holds_128_origins() -> None:
    assert MAX_ORIGINS == 128
