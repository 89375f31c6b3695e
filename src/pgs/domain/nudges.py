"""The nudge: its bytes, its signature, its tries, and what a run of failures leads to."""

import hashlib
import hmac
import re
from typing import Final, Literal

import msgspec

SIGNATURE_HEADER: Final = "X-Service-Signature"

SIGNATURE_AGE_S: Final = 300
"""Seconds by which a signature's time may differ from the verifier's clock, before or after: the
five minutes of the interface."""

TRY_AT_S: Final = (0, 1, 5)
"""When a nudge's tries are due, in seconds from the moment in which the first one began."""

FAILURES_TO_DISABLE: Final = 10
"""Nudges that fail in a row before their endpoint is switched off, as the interface promises."""

RESPONSE_TEXT_MAX: Final = 200
"""Characters of a response's body that the attempt log keeps, as the interface promises."""

Verdict = Literal["delivered", "retry", "stop"]

_HEADER = re.compile(r"t=(0|[1-9][0-9]{0,14}),v1=([0-9a-f]{64})", re.ASCII)


class TryOutcome(msgspec.Struct, frozen=True):
    """What one try came to.

    `status`: the response's, or None when no response came; `error` then tells why, in one of a few fixed texts, and is None
    otherwise. `duration_ms`: whole milliseconds from the look-up to the end. `response_body`: see `response_text`.
    """

    status: int | None
    error: str | None
    duration_ms: int
    response_body: str


def nudge_body(partner_id: str, at: int) -> bytes:
    """Return the body of a nudge sent at `at` (epoch seconds): JSON without spaces, its keys in this order."""
    # A partner id is letters, digits and hyphens: nothing that JSON would escape.
    return b'{"type":"results.available","partnerId":"%s","at":%d}' % (
        partner_id.encode("ascii"),
        at,
    )


def signature_header(secret: str, at: int, body: bytes) -> str:
    """Return the value of the signature header: `t=<at>,v1=<hex>`.

    `v1` is the HMAC-SHA256 of `<at>.<body>` in lower-case hex. Its key is the whole secret as UTF-8, prefix included.
    """
    return f"t={at},v1={_mac(secret, b'%d' % at, body)}"


def verify_signature(secret: str, header: str, body: bytes, now: int) -> bool:
    """Return whether `header` signs these very bytes within `SIGNATURE_AGE_S` of `now`. Takes any header; compares in constant time."""
    found = _HEADER.fullmatch(header)
    if found is None or abs(now - int(found[1])) > SIGNATURE_AGE_S:
        return False
    return hmac.compare_digest(
        _mac(secret, found[1].encode("ascii"), body).encode("ascii"), found[2].encode("ascii")
    )


def verdict(outcome: TryOutcome) -> Verdict:
    """Return what follows on a try: the nudge is delivered (2xx), tried again, or given up.

    Tried again is what may pass by itself: no response, 408, 429, 5xx. A redirect is never followed, so 3xx stops like 4xx.
    """
    status = outcome.status
    if status is None or status < 200:  # 1xx announces a response and is none
        return "retry"
    if status < 300:
        return "delivered"
    return "retry" if status in (408, 429) or 500 <= status <= 599 else "stop"


def next_try_due(first_began_at: float, tries_made: int, last_ended_at: float) -> float | None:
    """Return when the next try is due, or None when all have been made.

    Seconds on one clock throughout. `tries_made` counts from 1. A try that is still running delays the next one to its end.
    """
    if tries_made >= len(TRY_AT_S):
        return None
    return max(first_began_at + TRY_AT_S[tries_made], last_ended_at)


def after_delivery(failures: int, delivered: bool) -> tuple[int, bool]:
    """Return the run of failures after a nudge has completed, and whether it switches the endpoint off."""
    if delivered:
        return 0, False
    return failures + 1, failures + 1 >= FAILURES_TO_DISABLE


def response_text(body: bytes) -> str:
    """Return the first `RESPONSE_TEXT_MAX` characters of a response's body, as text that can be stored. Takes any bytes.

    Read as UTF-8; what is not UTF-8 (encoded surrogates too), and NUL, becomes U+FFFD.
    """
    return body.decode("utf-8", "replace").replace("\x00", "\ufffd")[:RESPONSE_TEXT_MAX]


def _mac(secret: str, at: bytes, body: bytes) -> str:
    return hmac.new(secret.encode("utf-8"), at + b"." + body, hashlib.sha256).hexdigest()
