import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.emails import email_domain, normalise_email, same_address


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ada@acme.example", "ada@acme.example"),
        ("Ada.Lovelace+games@ACME.Example", "Ada.Lovelace+games@acme.example"),
        ("ada@acme.test", "ada@acme.test"),
        ("ada@acme.co.uk", "ada@acme.co.uk"),
        ("ada@b\u00fccher.example", "ada@b\u00fccher.example"),
        ("ada@xn--bcher-kva.example", "ada@b\u00fccher.example"),
        ("stra\u00dfe@acme.example", "stra\u00dfe@acme.example"),
    ],
)
def test_an_address_keeps_its_case_only_before_the_at_sign(text: str, stored: str) -> None:
    assert normalise_email(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@acme.example",
        "ada@",
        "ada@acme",
        "ada@test",
        "ada@localhost",
        "ada@host.local",
        "ada@acme.invalid",
        "ada@acme.example.",
        "ada@acme..example",
        "ada@-acme.example",
        "ada@[192.0.2.1]",
        "ada@192.0.2.1",
        "ada@acme.example\n",
        " ada@acme.example",
        "ada@acme.example,bob@acme.example",
        "Ada <ada@acme.example>",
        '"ada lovelace"@acme.example',
        "ada\x00@acme.example",
        "ada@acme\x00.example",
        "\ud800@acme.example",
        "\u212aate@acme.example",  # the Kelvin sign, which normalises to K
        "ada\u1fef@acme.example",  # the Greek varia, which normalises to a backtick
        "ada@\ud800.example",
        "ada@xn--a.example",
        "a@" + "b" * 60 + ".example" * 30,
        "a" * 100_000,
    ],
)
def test_a_text_that_is_not_a_public_email_address_is_refused(text: str) -> None:
    assert normalise_email(text) is None
    assert email_domain(text) is None
    assert not same_address(text, text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@acme.example", "ADA@Acme.EXAMPLE"),
        ("\u00c5sa@acme.example", "\u00e5sa@acme.example"),
        ("A\u030asa@acme.example", "\u00e5sa@acme.example"),
        ("ada@b\u00fccher.example", "ada@XN--BCHER-KVA.example"),
    ],
)
def test_addresses_compare_without_case_and_with_domains_in_ascii(one: str, other: str) -> None:
    assert same_address(one, other)
    assert same_address(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@acme.example", "adb@acme.example"),
        ("ada@acme.example", "ada@mail.acme.example"),
        ("ada+games@acme.example", "ada@acme.example"),
        ("a.da@acme.example", "ada@acme.example"),
        ("stra\u00dfe@acme.example", "strasse@acme.example"),
        ("\u017fa@acme.example", "sa@acme.example"),
        ("ad\u0131@acme.example", "adi@acme.example"),
        ("\u0430da@acme.example", "ada@acme.example"),
    ],
)
def test_addresses_that_only_look_or_casefold_alike_are_different(one: str, other: str) -> None:
    assert normalise_email(one)
    assert normalise_email(other)
    assert not same_address(one, other)


LOCALS = st.text(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-", min_size=1, max_size=20
)


@given(LOCALS, LOCALS)
def test_two_plain_addresses_are_the_same_exactly_if_their_lower_case_forms_are_equal(
    one: str, other: str
) -> None:
    assert same_address(f"{one}@acme.example", f"{one.swapcase()}@ACME.example")
    assert same_address(f"{one}@acme.example", f"{other}@acme.example") == (
        one.lower() == other.lower()
    )


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_raises_and_a_stored_value_is_not_changed_again(local: str, domain: str) -> None:
    stored = normalise_email(f"{local}@{domain}")
    if stored is not None:
        assert normalise_email(stored) == stored
        assert same_address(f"{local}@{domain}", stored)
