"""Base64url without padding (RFC 4648, section 5), with exactly one spelling for the same bytes."""

import base64
import binascii
import re

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_TEXT = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def encode(data: bytes) -> str:
    """Return `data` as unpadded base64url text."""
    text = binascii.b2a_base64(data, newline=False)
    return text.translate(_URL_SAFE, b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """Return the bytes for which `encode` gives exactly `text`, or None.

    Python's decoder skips characters outside the alphabet and ignores the spare bits of the last
    character, so it decodes many texts to the same bytes. This function accepts only one of them.
    """
    if _TEXT.fullmatch(text) is None:
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return None
    return data if encode(data) == text else None
