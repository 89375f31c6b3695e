"""Looking for secrets where none may be: in files, logs and pages, in clear and in every spelling that software likes to give them."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

# Shorter pieces than this could be there by chance; longer ones would miss a secret that was cut.
_LEAST: Final = 12


def _aligned(secret: bytes, encode: object, group: int) -> Iterable[bytes]:
    """Give what a text encoding makes of bytes wherever in a longer text they stand, without what depends on their neighbours."""
    for before in range(group):
        encoded: bytes = encode(bytes(before) + secret + bytes(group))  # type: ignore[operator]  # each case is a function on bytes
        per = len(encode(bytes(group))) / group  # type: ignore[operator]  # each case is a function on bytes
        begin, end = -int(-(before * per) // 1), int((before + len(secret)) * per // 1)
        yield encoded[begin:end].rstrip(b"=")


def spellings(secret: str | bytes) -> set[bytes]:
    """Return a secret in clear, in hex, base64 and base32, and what it stands for where it is base32 or base64 itself, likewise."""
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
    """Return which secret was found in which place, by their names."""
    return [
        (name, place)
        for name, secret in secrets.items()
        for place, content in places.items()
        if any(spelling in content for spelling in spellings(secret))
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Return what the files of a folder hold, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _encoded(raw: bytes) -> set[bytes]:
    """What a prefix looks like in hex, and in base64 or base32 at any place."""
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
"""Anything that looks like a secret of this service: an API key, a webhook secret, a session token, an identity token, an authenticator."""


def shaped_like_secrets(content: bytes) -> set[bytes]:
    """Return what looks like a secret. Looking for a few fixed texts first is what makes this quick on files of many megabytes."""
    if not any(hint in content for hint in _HINTS):
        return set()
    return {match.group() for match in SHAPES.finditer(content)}
