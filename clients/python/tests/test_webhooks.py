"""Webhooks: a body is accepted only if it was signed with the secret, and not long ago."""

import hashlib
import hmac
import time
from typing import Any, cast

import pytest

from pgs_client import InvalidSignature, Nudge, verify_webhook

SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
BODY = b'{"type":"results.available","partnerId":"acme","at":1800000000}'
HEADER = "t=1800000000,v1=b98a2c741bd17a2dff6deb2e0cea04d1e1ab4ece2472eb1ce4f46793985ea502"
NOW = 1800000000.0


def _sign(secret: str, at: int, body: bytes) -> str:
    signed = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def test_a_nudge_that_is_signed_is_returned() -> None:
    nudge = Nudge("results.available", "acme", 1800000000)
    assert verify_webhook(SECRET, HEADER, BODY, now=NOW) == nudge
    body = cast(bytes, bytearray(BODY))
    assert verify_webhook(SECRET, HEADER, body, now=NOW + 300) == nudge


def test_both_secrets_are_taken_after_a_rotation() -> None:
    for secrets in (["whsec_new", SECRET], [SECRET, "whsec_new"]):
        assert verify_webhook(secrets, HEADER, BODY, now=NOW).partner_id == "acme"
    with pytest.raises(InvalidSignature):
        verify_webhook(["whsec_new"], HEADER, BODY, now=NOW)


def test_the_clock_of_the_machine_is_used_by_default() -> None:
    at = int(time.time())
    body = BODY.replace(b"1800000000", b"%d" % at)
    assert verify_webhook(SECRET, _sign(SECRET, at, body), body).at == at


@pytest.mark.parametrize(
    ("header", "body", "now"),
    [
        (HEADER, BODY + b" ", NOW),
        (HEADER, BODY, NOW + 301),
        (HEADER, BODY, NOW - 301),
        (HEADER.replace("b98a", "B98A"), BODY, NOW),
        (HEADER[:-1], BODY, NOW),
        (HEADER.replace("v1=", "v0="), BODY, NOW),
        ("t=1800000000,v1=é", BODY, NOW),
        ("t=\uff11\uff18,v1=00", BODY, NOW),
        ("t=+1800000000,v1=00", BODY, NOW),
        ("", BODY, NOW),
        (None, BODY, NOW),
        (_sign(SECRET, 1800000000, b"[]"), b"[]", NOW),
        (_sign(SECRET, 1800000000, b"{}"), b"{}", NOW),
        (_sign(SECRET, 1800000000, b"\xff"), b"\xff", NOW),
    ],
)
def test_anything_else_is_refused(header: str | None, body: bytes, now: float) -> None:
    with pytest.raises(InvalidSignature):
        verify_webhook(SECRET, header, body, now=now)


def test_a_body_that_was_decoded_already_is_refused() -> None:
    decoded: Any = BODY.decode()
    with pytest.raises(TypeError):
        verify_webhook(SECRET, HEADER, decoded, now=NOW)


@pytest.mark.parametrize("secrets", ["", [], ["", SECRET]])
def test_an_empty_secret_is_refused(secrets: str | list[str]) -> None:
    with pytest.raises(ValueError, match="secret"):
        verify_webhook(secrets, HEADER, BODY, now=NOW)
