import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.hosts import is_below_public_suffix, is_dns_name, is_dotted_name, is_public_suffix


@pytest.mark.parametrize(
    "host",
    [
        "a",
        "localhost",
        "a.b",
        "x" * 63 + ".com",
        "1and1.com",
        "a--b.com",
        "0x7f.example",
        "1.2.3.4a",
        "3com.com",
    ],
)
def test_names_of_letters_digits_and_hyphens_are_dns_names(host: str) -> None:
    assert is_dns_name(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "-a.b",
        "a-.b",
        "a_b.c",
        "A.b",
        "x" * 64 + ".com",
        "a b",
        "a\n",
        "é.com",
        "1",
        "1.2.3.4",
        "a.0x",
        "a.0x7f",
        "a.08",
    ],
)
def test_a_malformed_name_or_one_that_reads_as_an_address_is_not_a_dns_name(host: str) -> None:
    assert not is_dns_name(host)


def test_a_name_has_at_most_253_characters() -> None:
    assert is_dns_name(".".join(["x" * 62] * 4) + "x")
    assert not is_dns_name(".".join(["x" * 62] * 4) + "xxx")


@given(st.text(alphabet="ab1.-", max_size=8))
def test_a_name_counts_as_dotted_exactly_if_it_is_a_dns_name_and_has_a_dot(host: str) -> None:
    assert is_dotted_name(host) == (is_dns_name(host) and "." in host)


@pytest.mark.parametrize(
    ("host", "is_suffix", "is_below"),
    [
        ("com", True, False),
        ("co.uk", True, False),
        ("github.io", True, False),
        ("acme.co.uk", False, True),
        ("a.acme.com", False, True),
        ("acme.unlisted", False, False),
    ],
)
def test_only_a_listed_name_is_a_public_suffix(host: str, is_suffix: bool, is_below: bool) -> None:
    assert (is_public_suffix(host), is_below_public_suffix(host)) == (is_suffix, is_below)
