"""The rules of nudges: their bytes and signature, when tries are due, and what failures lead to."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

SIGNATURE_HEADER: Final = "X-Service-Signature"

SIGNATURE_AGE_S: Final = 300
"""Seconds by which a signature's time may differ from the verifier's clock, before or after: the
five minutes that the interface promises."""

TRY_AT_S: Final = (0, 1, 5)
"""Seconds from the beginning of a nudge's first try to each of its tries, as the interface
promises."""

FAILURES_TO_DISABLE: Final = 10
"""Nudges that fail in a row before their endpoint is switched off, as the interface promises."""

KEEP_ATTEMPTS_S: Final = 30 * 24 * 3600
"""Seconds that the attempt log keeps a try: the 30 days that the interface promises."""

RESPONSE_TEXT_MAX: Final = 200
"""Characters of a response's body that the attempt log keeps, as the interface promises."""

Verdict = Literal["delivered", "retry", "stop"]

_HEADER = re.compile(r"t=(0|[1-9][0-9]{0,14}),v1=([0-9a-f]{64})", re.ASCII)


class TryOutcome(msgspec.Struct, frozen=True):
    """The outcome of one try.

    `status` is the response's HTTP status, None if no response came; `error` then says why, in one
    of a few fixed texts. `duration_ms`: whole milliseconds from the look-up to the end.
    `response_body`: see `response_text`.
    """

    status: int | None
    error: str | None
    duration_ms: int
    response_body: str


class SignedNudge(msgspec.Struct, frozen=True):
    """The bytes of a nudge and its signature header, the same for all of its tries."""

    body: bytes
    headers: Mapping[str, str]


def sign_nudge(partner_id: str, secret: str, at: int) -> SignedNudge:
    """Return a partner's nudge, signed at `at` (epoch seconds)."""
    body = nudge_body(partner_id, at)
    return SignedNudge(body, {SIGNATURE_HEADER: signature_header(secret, at, body)})


def nudge_body(partner_id: str, at: int) -> bytes:
    """Return the body of a nudge sent at `at` (epoch seconds).

    It is JSON without spaces, and its keys always have the same order.
    """
    # A partner id is letters, digits and hyphens, so nothing in it needs escaping in JSON.
    return b'{"type":"results.available","partnerId":"%s","at":%d}' % (
        partner_id.encode("ascii"),
        at,
    )


def signature_header(secret: str, at: int, body: bytes) -> str:
    """Return the value of the signature header: `t=<at>,v1=<hex>`.

    `v1` is the HMAC-SHA256 of `<at>.<body>` in lower-case hex. The key is the whole secret as
    UTF-8, its prefix included.
    """
    return f"t={at},v1={_mac(secret, b'%d' % at, body)}"


def verify_signature(secret: str, header: str, body: bytes, now: int) -> bool:
    """Return whether `header` signs exactly these bytes, within `SIGNATURE_AGE_S` of `now`.

    Takes any header. The comparison takes constant time.
    """
    found = _HEADER.fullmatch(header)
    if found is None or abs(now - int(found[1])) > SIGNATURE_AGE_S:
        return False
    return hmac.compare_digest(
        _mac(secret, found[1].encode("ascii"), body).encode("ascii"), found[2].encode("ascii")
    )


def verdict(outcome: TryOutcome) -> Verdict:
    """Return what follows from a try: the nudge is delivered, tried again or given up.

    A response of 2xx means that the nudge is delivered. If no response came, and after 408, 429 and
    5xx, the nudge is tried again, because such failures may pass by themselves. After any other
    status it is given up, also after a redirect, because redirects are never followed.
    """
    status = outcome.status
    if status is None or status < 200:  # 1xx announces a response that never came
        return "retry"
    if status < 300:
        return "delivered"
    return "retry" if status in (408, 429) or 500 <= status <= 599 else "stop"


def next_try_due(first_began_at: float, tries_made: int, last_ended_at: float) -> float | None:
    """Return when the next try is due, or None when all tries have been made.

    All times are seconds on the same clock. If a try runs past the time of the next one, the next
    try is due when that try ends.
    """
    if tries_made >= len(TRY_AT_S):
        return None
    return max(first_began_at + TRY_AT_S[tries_made], last_ended_at)


def failures_after(failures: int, delivered: bool) -> int:
    """Return the number of failures in a row after one more nudge: 0 if the nudge was delivered."""
    return 0 if delivered else failures + 1


def disables_endpoint(failures: int) -> bool:
    """Return whether an endpoint with this number of failures in a row is to be switched off."""
    return failures >= FAILURES_TO_DISABLE


def response_text(body: bytes) -> str:
    """Return the first `RESPONSE_TEXT_MAX` characters of a response's body. Takes any bytes.

    The bytes are read as UTF-8. NUL and invalid sequences, encoded surrogates among them, become
    U+FFFD, so that the text can be stored.
    """
    return body.decode("utf-8", "replace").replace("\x00", "\ufffd")[:RESPONSE_TEXT_MAX]


def _mac(secret: str, at: bytes, body: bytes) -> str:
    return hmac.new(secret.encode("utf-8"), at + b"." + body, hashlib.sha256).hexdigest()
