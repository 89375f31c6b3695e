"""Which files are accepted as logos."""

import base64
import hashlib
import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image

from pgs.domain.errors import Refusal
from pgs.domain.themes import LOGO_MAX_BYTES, Logo
from pgs.http.api.logos import SentLogo, check_logo, decode_base64, is_image


def picture(kind: str, size: tuple[int, int] = (3, 2)) -> bytes:
    out = BytesIO()
    Image.new("RGBA", size, (10, 20, 30, 40)).save(out, kind)
    return out.getvalue()


def png_that_claims(width: int, height: int) -> bytes:
    """Return the beginning of a PNG of a size; its pixels are missing."""
    fields = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunk = b"IHDR" + fields
    crc = struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(fields)) + chunk + crc


def sent(content: bytes, mime: str = "image/png") -> SentLogo:
    return SentLogo(mime, base64.b64encode(content).decode())


async def reason(logo: SentLogo) -> str | None:
    checked = await check_logo(logo)
    return checked.reason if isinstance(checked, Refusal) else None


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("WEBP", "image/webp")])
async def test_a_png_and_a_webp_are_taken_with_their_hash_and_length(kind: str, mime: str) -> None:
    content = picture(kind)
    assert await check_logo(sent(content, mime)) == Logo(
        mime, hashlib.sha256(content).hexdigest(), len(content)
    )


@pytest.mark.parametrize("mime", ["image/svg+xml", "image/jpeg", "image/PNG", "", "image/png "])
async def test_every_other_type_is_refused_before_its_content_is_looked_at(mime: str) -> None:
    assert await reason(SentLogo(mime, "!")) == "logo_unsupported_type"


@pytest.mark.parametrize(
    "text", ["", "!", "QQ", "QUI=\n", "QQ=", "data:image/png;base64,QQ==", "QR=="]
)
async def test_base64_that_is_not_canonical_is_malformed(text: str) -> None:
    assert not decode_base64(text)
    assert await reason(SentLogo("image/png", text)) == "logo_malformed"


async def test_the_refusal_of_a_file_over_the_limit_names_the_limit() -> None:
    padding = b"\0" * LOGO_MAX_BYTES
    refused = await check_logo(sent(padding + b"\0"))
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.extras) == ("logo_too_large", {"maxBytes": LOGO_MAX_BYTES})
    assert await reason(sent(padding)) == "logo_not_that_image"


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (picture("PNG"), "image/webp"),
        (picture("WEBP"), "image/png"),
        (picture("GIF"), "image/png"),
        (picture("PNG")[:40], "image/png"),
        (picture("WEBP")[:20], "image/webp"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png"),
        (png_that_claims(100_000, 100_000), "image/png"),
        (png_that_claims(4097, 1), "image/png"),
    ],
)
async def test_a_file_that_does_not_decode_as_its_type_is_no_image(
    content: bytes, mime: str
) -> None:
    assert await reason(sent(content, mime)) == "logo_not_that_image"


def test_a_logo_may_have_4096_pixels_on_a_side_and_no_more() -> None:
    assert is_image(picture("PNG", (4096, 1)), "PNG")
    assert not is_image(picture("PNG", (4097, 1)), "PNG")
