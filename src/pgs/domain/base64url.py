"""Base64url without padding (RFC 4648, section 5), in its one canonical spelling."""

import base64
import binascii
import re

_TEXT = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def encode(data: bytes) -> str:
    """Return `data` as unpadded base64url text."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """Return the bytes for which `encode` gives exactly `text`, or None.

    Python's decoder skips foreign characters and ignores the spare bits of the last one, so that many texts would stand for the
    same bytes; here only one does.
    """
    if _TEXT.fullmatch(text) is None:
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return None
    return data if encode(data) == text else None
