import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.nudges import (
    FAILURES_TO_DISABLE,
    RESPONSE_TEXT_MAX,
    SIGNATURE_AGE_S,
    TRY_AT_S,
    TryOutcome,
    disables_endpoint,
    failures_after,
    next_try_due,
    nudge_body,
    response_text,
    sign_nudge,
    signature_header,
    verdict,
    verify_signature,
)

SECRET = "whsec_" + "A" * 43
AT = 1_800_000_000
BODY = nudge_body("acme", AT)
HEADER = signature_header(SECRET, AT, BODY)


def _answered(status: int | None) -> TryOutcome:
    return TryOutcome(status, None if status else "no answer", 12, "")


def test_the_body_is_compact_json_with_its_keys_in_order() -> None:
    assert BODY == b'{"type":"results.available","partnerId":"acme","at":1800000000}'
    assert list(json.loads(BODY)) == ["type", "partnerId", "at"]


def test_a_signed_nudge_is_its_body_with_the_header_that_verifies() -> None:
    signed = sign_nudge("acme", SECRET, AT)
    assert signed.body == BODY
    assert signed.headers == {"X-Service-Signature": HEADER}


def test_the_signature_equals_the_one_that_openssl_makes() -> None:
    # body='{"type":"results.available","partnerId":"acme","at":1800000000}'
    # printf '%s' "1800000000.$body" | openssl dgst -sha256 -hmac whsec_AAA…
    assert (
        HEADER == "t=1800000000,v1=b98a2c741bd17a2dff6deb2e0cea04d1e1ab4ece2472eb1ce4f46793985ea502"
    )


def test_a_signature_verifies_for_five_minutes_either_way() -> None:
    for away in (0, 1, SIGNATURE_AGE_S):
        assert verify_signature(SECRET, HEADER, BODY, AT + away)
        assert verify_signature(SECRET, HEADER, BODY, AT - away)
    assert not verify_signature(SECRET, HEADER, BODY, AT + SIGNATURE_AGE_S + 1)
    assert not verify_signature(SECRET, HEADER, BODY, AT - SIGNATURE_AGE_S - 1)


def test_a_signature_verifies_for_no_other_body_time_or_secret() -> None:
    assert not verify_signature(SECRET, HEADER, BODY + b" ", AT)
    assert not verify_signature(SECRET, HEADER.replace("t=1800000000", "t=1800000001"), BODY, AT)
    assert not verify_signature(SECRET.removeprefix("whsec_"), HEADER, BODY, AT)
    assert not verify_signature("", HEADER, BODY, AT)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t=,v1=",
        HEADER.upper(),
        HEADER + ",",
        HEADER + "\n",
        " " + HEADER,
        HEADER.replace(",", ", "),
        HEADER.replace("t=1800000000", "t=１800000000"),  # noqa: RUF001 - a full-width digit
        HEADER.replace("t=1800000000", "t=01800000000"),
        HEADER.replace("t=1800000000", "t=+1800000000"),
        HEADER.replace("t=1800000000", "t=1_800_000_000"),
        HEADER.replace("t=1800000000", "t=" + "1" * 5000),
        HEADER[:-1],
        f"{HEADER},{HEADER}",
        "v1=" + HEADER.partition("v1=")[2] + ",t=1800000000",
        HEADER[:-1] + "\u00e9",
        "\ud800",
    ],
)
def test_any_other_header_is_refused(header: str) -> None:
    assert not verify_signature(SECRET, header, BODY, AT)


@given(st.text(max_size=100))
def test_no_header_makes_the_verifier_raise(header: str) -> None:
    assert not verify_signature(SECRET, header, BODY, AT)
    assert not verify_signature(SECRET, f"t={AT},v1={header}", BODY, AT)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 226, 299])
def test_a_nudge_answered_with_any_2xx_is_delivered(status: int) -> None:
    assert verdict(_answered(status)) == "delivered"


@pytest.mark.parametrize("status", [None, 408, 429, 500, 502, 503, 504, 599, 100, 101, 103])
def test_a_delivery_with_a_temporary_failure_is_tried_again(status: int | None) -> None:
    assert verdict(_answered(status)) == "retry"


@pytest.mark.parametrize(
    "status",
    [300, 301, 302, 303, 307, 308, 399, 400, 401, 403, 404, 407, 409, 410, 428, 430, 499, 600, 999],
)
def test_a_delivery_with_any_other_status_is_given_up(status: int) -> None:
    assert verdict(_answered(status)) == "stop"


def test_tries_are_due_0_1_and_5_seconds_after_the_first_one_began() -> None:
    assert TRY_AT_S == (0, 1, 5)
    assert next_try_due(100.0, 1, 100.2) == 101.0
    assert next_try_due(100.0, 2, 101.3) == 105.0
    assert next_try_due(100.0, 3, 105.1) is None


def test_a_try_that_still_runs_delays_the_next_until_it_ends() -> None:
    assert next_try_due(100.0, 1, 105.0) == 105.0
    assert next_try_due(100.0, 2, 110.0) == 110.0


def test_the_tenth_failure_in_a_row_switches_the_endpoint_off() -> None:
    failures = 0
    for number in range(1, FAILURES_TO_DISABLE + 1):
        failures = failures_after(failures, delivered=False)
        assert (failures, disables_endpoint(failures)) == (number, number == 10)


def test_one_delivery_ends_the_run_of_failures() -> None:
    assert failures_after(9, delivered=True) == 0
    assert failures_after(0, delivered=True) == 0


def test_a_response_keeps_its_first_200_characters() -> None:
    assert response_text(b"ok") == "ok"
    assert response_text("é".encode() * 300) == "é" * RESPONSE_TEXT_MAX
    assert response_text("\U0001f600".encode() * 201) == "\U0001f600" * 200


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        (b"a\x00b", "a\ufffdb"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80!", "\ufffd\ufffd\ufffd!"),  # an encoded surrogate
        (b"caf\xc3", "caf\ufffd"),  # cut within a character
        (b"\xc0\x80", "\ufffd\ufffd"),  # an overlong NUL
    ],
)
def test_bytes_that_cannot_be_stored_as_text_are_replaced(body: bytes, text: str) -> None:
    assert response_text(body) == text


@given(st.binary(max_size=5000))
def test_any_response_can_be_stored(body: bytes) -> None:
    text = response_text(body)
    assert len(text) <= RESPONSE_TEXT_MAX
    assert "\x00" not in text
    text.encode("utf-8")
