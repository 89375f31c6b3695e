import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.admin_domains import inside, normalise_domain, set_domain
from pgs.domain.errors import refuse


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("acme.com", "acme.com"),
        ("ACME.Com", "acme.com"),
        ("games.acme.co.uk", "games.acme.co.uk"),
        ("acme.github.io", "acme.github.io"),
        ("acme.example", "acme.example"),
        ("acme.test", "acme.test"),
        ("www.ck", "www.ck"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("B\u00dcCHER.example", "xn--bcher-kva.example"),
    ],
)
def test_a_domain_is_taken_in_any_case_and_stored_in_ascii(text: str, stored: str) -> None:
    assert normalise_domain(text) == stored


@pytest.mark.parametrize(
    "text",
    ["com", "co.uk", "CO.UK", "github.io", "anything.ck", "xn--55qx5d.cn", "\u516c\u53f8.cn"],
)
def test_a_public_suffix_is_refused_as_a_domain(text: str) -> None:
    assert normalise_domain(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "acme",
        "localhost",
        "test",
        "acme.local",
        "acme.com.",
        ".acme.com",
        "acme..com",
        "*.acme.com",
        "-acme.com",
        "acme_.com",
        "acme.com ",
        " acme.com",
        "acme.com\n",
        "acme.com/",
        "acme.com:443",
        "https://acme.com",
        "@acme.com",
        "ada@acme.com",
        "192.0.2.1",
        "[192.0.2.1]",
        "acme.0x7f",
        "acme\u3002com",
        "\uff41cme.com",
        "xn--a.com",
        "acme\x00.com",
        "\ud800.com",
        "a" * 64 + ".com",
        "a." * 130 + "com",
        "x" * 100_000,
    ],
)
def test_a_text_that_is_not_a_domain_or_needs_repair_is_refused(text: str) -> None:
    assert normalise_domain(text) is None


@given(st.text(max_size=30), st.sampled_from(["", ".com", ".example", ".co.uk"]))
def test_no_text_raises_and_a_stored_value_is_not_changed_again(head: str, tail: str) -> None:
    stored = normalise_domain(head + tail)
    if stored is not None:
        assert stored == stored.lower()
        assert stored.isascii()
        assert normalise_domain(stored) == stored
        assert inside(f"ada@{head}{tail}", stored)


@pytest.mark.parametrize("email", ["ada@acme.com", "ADA@ACME.COM"])
def test_an_address_of_the_domain_is_inside(email: str) -> None:
    assert inside(email, "acme.com")


@pytest.mark.parametrize(
    "email",
    [
        "ada@mail.acme.com",
        "ada@notacme.com",
        "ada@acme.com.example",
        "ada@com",
        "acme.com",
        "",
        "@acme.com",
    ],
)
def test_an_address_of_a_subdomain_another_domain_or_none_is_outside(email: str) -> None:
    assert not inside(email, "acme.com")


def test_an_address_is_inside_its_domain_in_either_spelling() -> None:
    assert inside("ada@b\u00fccher.example", "xn--bcher-kva.example")
    assert inside("ada@xn--bcher-kva.example", "xn--bcher-kva.example")


def test_a_domain_is_set_once_by_somebody_inside_it() -> None:
    assert set_domain("ACME.com", None, "ada@acme.com") == "acme.com"


def test_a_domain_is_set_once_even_to_the_same_one() -> None:
    assert set_domain("acme.com", "acme.com", "ada@acme.com") == refuse("domain_already_set")
    assert set_domain("other.com", "acme.com", "ada@acme.com") == refuse("domain_already_set")


@pytest.mark.parametrize("domain", ["other.com", "mail.acme.com"])
def test_nobody_sets_a_domain_that_their_own_address_is_outside_of(domain: str) -> None:
    assert set_domain(domain, None, "ada@acme.com") == refuse("address_outside_domain")


@pytest.mark.parametrize("current", [None, "acme.com"])
def test_an_invalid_domain_is_reported_before_other_reasons(current: str | None) -> None:
    assert set_domain("co.uk", current, "ada@acme.com") == refuse("invalid_domain")
