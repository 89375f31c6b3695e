"""Verifies the nudges that the service sends to a webhook endpoint."""

import hashlib
import hmac
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

SIGNATURE_HEADER = "X-Service-Signature"

TOLERANCE_S = 300
"""Seconds by which the time of a signature may be before or after the clock. Without such a limit,
a recorded nudge could be replayed for ever."""

_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)


class InvalidSignature(Exception):
    """The signature is missing, wrong, or too far from the clock, or the body is no nudge.

    Answer 400 and do nothing else.
    """


@dataclass(frozen=True)
class Nudge:
    """Tells you to read the feed; it carries no result. `at`: when it was sent, epoch seconds."""

    type: str
    partner_id: str
    at: int


def verify_webhook(
    secrets: str | Sequence[str],
    header: str | None,
    raw_body: bytes,
    *,
    now: float | None = None,
    tolerance_s: float = TOLERANCE_S,
) -> Nudge:
    """Return the nudge of a signed body. Raises `InvalidSignature`.

    `raw_body` is the body as it was received, before anything decodes it. For a few minutes after a
    rotation give both secrets, so that no nudge is lost.
    """
    if not isinstance(raw_body, bytes | bytearray | memoryview):
        raise TypeError("raw_body must be the bytes that were received")
    parts = dict(part.partition("=")[::2] for part in (header or "").split(","))
    at, signature = parts.get("t", ""), parts.get("v1", "")
    if not _TIME.fullmatch(at):
        raise InvalidSignature("the signature header is missing or malformed")
    if abs((time.time() if now is None else now) - int(at)) > tolerance_s:
        raise InvalidSignature("the signature is too old, or this machine's clock is wrong")
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    if not known or not all(known):
        raise ValueError("give the signing secret of the endpoint")
    signed = at.encode() + b"." + bytes(raw_body)
    claimed = signature.encode("utf-8", "replace")
    # All are compared, so that the time does not tell which secret is in use.
    matching = [
        hmac.compare_digest(
            hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode(), claimed
        )
        for secret in known
    ]
    if not any(matching):
        raise InvalidSignature("the signature is not valid")
    try:
        sent = json.loads(bytes(raw_body))
        return Nudge(str(sent["type"]), str(sent["partnerId"]), int(sent["at"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidSignature("the body is signed, but it is not a nudge") from error
