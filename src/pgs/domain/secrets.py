"""Secrets that are shown once: their texts, made from random bytes."""

from typing import Final

from pgs.domain import base64url

WEBHOOK_SECRET_BYTES: Final = 32
"""Random bytes of a webhook's signing secret: as many as its HMAC-SHA256 has."""


def webhook_secret(entropy: bytes) -> str:
    """Return `whsec_` and 43 base64url characters. The HMAC key is this whole text in UTF-8."""
    if len(entropy) != WEBHOOK_SECRET_BYTES:
        raise ValueError(f"a webhook secret takes {WEBHOOK_SECRET_BYTES} bytes")
    return f"whsec_{base64url.encode(entropy)}"
