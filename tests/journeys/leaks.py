"""Finds secrets, in clear and in common encodings, in files, logs and pages."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

# Bytes. Shorter matches could occur by chance; a longer minimum would miss parts of a secret.
_LEAST: Final = 12


def _aligned(secret: bytes, encode: Callable[[bytes], bytes], group: int) -> Iterable[bytes]:
    """Yield the encodings of `secret` at every offset of a longer text.

    Characters that depend on the neighbouring bytes are cut off.
    """
    for before in range(group):
        encoded = encode(bytes(before) + secret + bytes(group))
        per = len(encode(bytes(group))) / group
        begin, end = -int(-(before * per) // 1), int((before + len(secret)) * per // 1)
        yield encoded[begin:end].rstrip(b"=")


def spellings(secret: str | bytes) -> set[bytes]:
    """Return a secret in clear, reversed, and in hex, base64 and base32.

    If the secret itself is base32 or base64, the decoded bytes are returned in these forms too.
    """
    found: set[bytes] = set()
    for raw in _readings(secret.encode() if isinstance(secret, str) else secret):
        found |= {raw, raw.hex().encode(), raw.hex().upper().encode(), raw[::-1]}
        for encode, group in (
            (base64.b64encode, 3),
            (base64.urlsafe_b64encode, 3),
            (base64.b32encode, 5),
        ):
            found |= set(_aligned(raw, encode, group))
    return {spelling for spelling in found if len(spelling) >= _LEAST}


def _readings(secret: bytes) -> set[bytes]:
    readings = {secret}
    tail = secret.rpartition(b"_")[2] if secret.startswith((b"pgs_", b"whsec_")) else secret
    readings |= (
        {tail, *(part for part in secret.split(b".") if len(part) >= 24)}
        if b"." in secret or tail != secret
        else set()
    )
    for decode in (base64.b32decode, base64.urlsafe_b64decode):
        try:
            readings.add(decode(tail + b"=" * (-len(tail) % 8)))
        except (binascii.Error, ValueError):
            continue
    return {reading for reading in readings if len(reading) >= _LEAST}


def leaks(secrets: Mapping[str, str], places: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return (secret name, place name) for every place that contains a secret in any encoding."""
    return [
        (name, place)
        for name, secret in secrets.items()
        for place, content in places.items()
        if any(spelling in content for spelling in spellings(secret))
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files in a folder, by file name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _encoded(raw: bytes) -> set[bytes]:
    """Return the spellings of some bytes: hex, and base64 and base32 at every offset."""
    forms = {raw.hex().encode(), raw.hex().upper().encode()}
    for encode, group in (
        (base64.b64encode, 3),
        (base64.urlsafe_b64encode, 3),
        (base64.b32encode, 5),
    ):
        forms |= set(_aligned(raw, encode, group))
    return forms


_ENCODED: Final = sorted(
    set().union(*(_encoded(prefix) for prefix in (b"pgs_live_", b"pgs_test_", b"whsec_")))
)
_HINTS: Final = (b"pgs_live_", b"pgs_test_", b"whsec_", b"pgs1.", b".eyJ", b"otpauth", *_ENCODED)

SHAPES: Final = re.compile(
    "|".join(
        [
            r"pgs_(?:live|test)_[0-9A-Za-z]{46}(?![0-9A-Za-z])",
            r"whsec_[0-9A-Za-z_-]{43}",
            r"pgs1\.[0-9a-f]{3}\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{20,}",
            r"eyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{20,}",
            r"otpauth://",
            *(re.escape(form.decode()) for form in _ENCODED),
        ]
    ).encode()
)
"""Matches text in the format of a secret of this service: an API key, a webhook secret, a session
token, an identity token, an authenticator's secret."""


def shaped_like_secrets(content: bytes) -> set[bytes]:
    """Return the parts of `content` that have the format of a secret.

    It looks for a few fixed texts first, to be fast on files of many megabytes.
    """
    if not any(hint in content for hint in _HINTS):
        return set()
    return {match.group() for match in SHAPES.finditer(content)}
