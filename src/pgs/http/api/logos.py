"""Checks the logos of themes: type, base64, size, and the image itself."""

import base64
import binascii
import hashlib
from io import BytesIO
from typing import Final

import msgspec
import trio
from PIL import Image

from pgs.domain.errors import Refusal, refuse
from pgs.domain.themes import LOGO_MAX_BYTES, LOGO_MAX_SIDE, Logo

DECODES_AT_ONCE: Final = 2
"""Logos that are decoded at the same time. Each may need 64 MiB; others wait."""

_FORMATS: Final = {"image/png": "PNG", "image/webp": "WEBP"}

_limiter: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("logo_limiter")


class SentLogo(msgspec.Struct, frozen=True, rename="camel"):
    """A logo as it is sent: its type, and its content in base64 without a `data:` prefix."""

    mime: str
    base64: str


async def check_logo(sent: SentLogo) -> Logo | Refusal:
    """Return the logo's type, hash and size, or why it is refused.

    The image is decoded in a separate thread.
    """
    if sent.mime not in _FORMATS:
        return refuse("logo_unsupported_type")
    content = decode_base64(sent.base64)
    if not content:
        return refuse("logo_malformed")
    if len(content) > LOGO_MAX_BYTES:
        return refuse("logo_too_large", maxBytes=LOGO_MAX_BYTES)
    if not await trio.to_thread.run_sync(
        is_image, content, _FORMATS[sent.mime], limiter=_limit(), abandon_on_cancel=True
    ):
        return refuse("logo_not_that_image")
    return Logo(sent.mime, hashlib.sha256(content).hexdigest(), len(content))


def decode_base64(text: str) -> bytes | None:
    """Return the bytes of a text in canonical base64 (RFC 4648, section 4), else None."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if base64.b64encode(content) == text.encode() else None


def is_image(content: bytes, kind: str) -> bool:
    """Return whether a file can be decoded as an image of the format `kind` and is not too large.

    The image's size is at the beginning of the file, and is checked before any pixel is decoded.
    """
    try:
        with Image.open(BytesIO(content), formats=[kind]) as image:
            if max(image.size) > LOGO_MAX_SIDE:
                return False
            image.load()
    except Exception:  # a decoder may raise any exception
        return False
    return True


def _limit() -> trio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limit = trio.CapacityLimiter(DECODES_AT_ONCE)
        _limiter.set(limit)
        return limit
