import base64
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyotp import TOTP

from pgs.domain.totp import ENTROPY_BYTES, matching_step, new_secret, otpauth_uri

# The last six digits of the SHA-1 codes of RFC 6238, appendix B. An app shows six digits.
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()
RFC_ROWS = [
    (59, "287082"),
    (1111111109, "081804"),
    (1111111111, "050471"),
    (1234567890, "005924"),
    (2000000000, "279037"),
    (20000000000, "353130"),
]


@pytest.mark.parametrize(("now", "code"), RFC_ROWS)
def test_the_codes_of_the_rfc_are_right_in_their_step(now: int, code: str) -> None:
    assert matching_step(RFC_SECRET, code, now) == now // 30


@pytest.mark.parametrize(("now", "code"), RFC_ROWS)
def test_a_code_is_right_during_its_own_and_the_next_step_only(now: int, code: str) -> None:
    step = now // 30
    start = step * 30
    assert [
        matching_step(RFC_SECRET, code, start + after) for after in (-1, 0, 29, 30, 59, 60)
    ] == [None, step, step, step, step, None]


@given(st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES), st.integers(60, 4_000_000_000))
def test_the_code_that_an_app_shows_is_right(entropy: bytes, now: int) -> None:
    secret = new_secret(entropy)
    assert matching_step(secret, TOTP(secret).at(now), now) == now // 30


@pytest.mark.parametrize(
    "code",
    [
        "",
        "28708",
        "2870820",
        "28708\n",
        "287082\n",
        " 287082",
        "287 082",
        "+87082",
        "-87082",
        "28708a",
        "\uff12\uff18\uff17\uff10\uff18\uff12",
        "\u0662\u0668\u0667\u0660\u0668\u0662",
        "\ud800",
        "287082\ud800",
        "2" * 100_000,
    ],
)
def test_a_text_that_is_not_six_ascii_digits_is_right_in_no_step(code: str) -> None:
    assert matching_step(RFC_SECRET, code, 59) is None


def test_when_two_steps_share_a_code_the_newer_one_is_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TOTP, "generate_otp", lambda _self, _step: "123456")
    assert matching_step(RFC_SECRET, "123456", 3000) == 100


def test_the_first_step_has_no_step_before_it() -> None:
    assert matching_step(RFC_SECRET, "755224", 0) == 0  # RFC 4226, appendix D, counter 0
    assert matching_step(RFC_SECRET, "000000", 0) is None


@given(st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES))
def test_a_secret_is_its_entropy_in_32_base32_characters(entropy: bytes) -> None:
    secret = new_secret(entropy)
    assert len(secret) == 32
    assert base64.b32decode(secret) == entropy


@pytest.mark.parametrize("length", [0, 16, 19, 21])
def test_entropy_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="20 bytes"):
        new_secret(bytes(length))


def test_the_uri_names_account_issuer_and_secret_without_ambiguity() -> None:
    uri = urlsplit(otpauth_uri(RFC_SECRET, "ada+games@acme.example", "Partner Games: live & test"))
    assert (uri.scheme, uri.netloc) == ("otpauth", "totp")
    # The colon in the issuer is escaped, so the first colon of the label ends the issuer.
    issuer, account = uri.path.removeprefix("/").split(":")
    assert (unquote(issuer), unquote(account)) == (
        "Partner Games: live & test",
        "ada+games@acme.example",
    )
    assert parse_qs(uri.query) == {"secret": [RFC_SECRET], "issuer": ["Partner Games: live & test"]}
    assert "+" not in uri.query  # some apps read a plus sign as a space
