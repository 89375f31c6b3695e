import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.webhook_urls import URL_MAX, normalise_webhook_url

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "ssrf_cases.json").read_text(encoding="utf-8")
)
REGISTER = [
    pytest.param(row["input"], row["expect"], id=f"{row['id']} {row['why']}")
    for row in ROWS
    if row["stage"] == "register"
]


@pytest.mark.parametrize(("text", "expect"), REGISTER)
def test_every_registration_case_has_its_expected_verdict(text: str, expect: str) -> None:
    assert (
        normalise_webhook_url(text) is not None
        if expect == "accept"
        else normalise_webhook_url(text) is None
    )


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("https://HOOKS.Example.COM/Path?Q=A", "https://hooks.example.com/Path?Q=A"),
        ("HTTPS://hooks.example.com", "https://hooks.example.com"),
        ("https://hooks.example.com:8443/x", "https://hooks.example.com:8443/x"),
        ("https://hooks.example.com:65535?x", "https://hooks.example.com:65535?x"),
        ("https://b\u00fccher.example.com/", "https://xn--bcher-kva.example.com/"),
        ("https://XN--BCHER-KVA.example.com/", "https://xn--bcher-kva.example.com/"),
        ("https://hooks.example.com/a?b[]=1|2", "https://hooks.example.com/a?b[]=1|2"),
        ("https://hooks.example.com/@me?to=a@b.c:1", "https://hooks.example.com/@me?to=a@b.c:1"),
        ("https://partner.github.io/hook", "https://partner.github.io/hook"),
    ],
)
def test_only_scheme_and_host_are_rewritten(text: str, stored: str) -> None:
    assert normalise_webhook_url(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "https://co.uk/",
        "https://com/",
        "https://github.io/",
        "https://hooks.example/",
        "https://x.arpa/",
        "https://a.b.in-addr.arpa/",
        "https://hooks.home.arpa/",
        "https://abc.onion/",
        "https://hooks.example.com./",
    ],
)
def test_a_host_that_is_not_below_a_listed_public_suffix_is_refused(text: str) -> None:
    assert normalise_webhook_url(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "https://hooks.example.com:0/",
        "https://hooks.example.com:65536/",
        "https://hooks.example.com:/",
        "https://hooks.example.com:0443/",
        "https://hooks.example.com:-1/",
        "https://hooks.example.com:99999999999999999999/",
    ],
)
def test_a_port_other_than_1_to_65535_in_plain_digits_is_refused(text: str) -> None:
    assert normalise_webhook_url(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "https://B\u00fccher.example.com/",
        "https://B\u00dcCHER.example.com/",
        "https://bu\u0308cher.example.com/",
        "https://\uff42ooks.example.com/",
        "https://xn--B\u00fccher.example.com/",
        "https://xn--.example.com/",
        "https://xn--a.example.com/",
        "https://xn--abc-.example.com/",
        "https://xn--i-7iq.example.com/",
        "https://b\u00fccher\u3002example.com/",
        "https://" + "\u00fc" * 64 + ".example.com/",
    ],
)
def test_labels_that_need_mapping_or_are_not_valid_in_idna_are_refused(text: str) -> None:
    assert normalise_webhook_url(text) is None


@pytest.mark.parametrize(
    "tail",
    [
        "#",
        "/#x",
        "/\u00e9",
        "/a b",
        "/\\",
        "/%",
        "/%4",
        "/%zz",
        "/{id}",
        '/"',
        "/<x>",
        "/^",
        "/`",
        "/\x7f",
        "/\u2028",
        "?\n",
        "?#",
        "\\x",
        "%2f",
    ],
)
def test_a_path_or_query_that_a_client_would_have_to_escape_is_refused(tail: str) -> None:
    assert normalise_webhook_url(f"https://hooks.example.com{tail}") is None


def test_a_url_has_at_most_2048_characters_as_sent_and_as_stored() -> None:
    head = "https://hooks.example.com/"
    assert normalise_webhook_url(head + "a" * (URL_MAX - len(head))) is not None
    assert normalise_webhook_url(head + "a" * (URL_MAX - len(head) + 1)) is None
    grown = "https://b\u00fccher.example.com/"
    assert normalise_webhook_url(grown + "a" * (URL_MAX - len(grown))) is None


@given(st.text(max_size=60))
def test_no_text_raises_and_a_stored_url_is_not_changed_again(text: str) -> None:
    for candidate in (
        text,
        f"https://{text}",
        f"https://{text}.example.com/",
        f"https://xn--{text}.example.com/",
        f"https://a.example.com{text}",
    ):
        stored = normalise_webhook_url(candidate)
        if stored is not None:
            assert stored == normalise_webhook_url(stored)
            assert stored.isascii()
            assert stored.isprintable()


@given(st.text(alphabet="abz019-", max_size=59))
def test_a_label_of_any_punycode_is_kept_or_refused_without_an_exception(tail: str) -> None:
    stored = normalise_webhook_url(f"https://xn--{tail}.example.com/")
    assert stored in (None, f"https://xn--{tail}.example.com/")


@pytest.mark.parametrize(
    "text",
    [
        "https://" + "a." * 1020,
        "https://" + "\u00fc" * 2040,
        "https://a.com/" + "%" * 2030,
        "https://a.com/" + "a?" * 1010 + "#",
    ],
)
def test_a_long_hostile_text_is_refused(text: str) -> None:
    assert normalise_webhook_url(text) is None
