"""The ring of secret keys for tokens, cursors and stored secrets.

Everything made with a key contains the key's `kid`. Keys stay on the ring forever, because cursors
never expire. New tokens, cursors and sealed secrets are made with the current key, which is the
first. A rotation adds a key in front, and everything made with the other keys stays valid. Where
several nodes share a ring, all must accept a key before one of them uses it. So the key is first
added at the end, and put in front later. No key is used directly: each purpose uses a separate key
that is derived from it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import lru_cache
from typing import Final, Protocol

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pgs.domain import base64url
from pgs.domain.secrets import HidesSecrets

KID_ENTROPY_BYTES: Final = 6
"""Bytes of randomness in a ring key's id. The id is no secret; 48 bits keep the few ids of a ring
apart."""

SECRET_BYTES: Final = 32
"""Bytes of a ring key's secret: the 256 bits that HMAC-SHA256 and AES-256 take."""

MAX_KEYS: Final = 64
"""Keys on one ring: enough for one rotation a month over five years. The limit also bounds the cost
of reading a file that is no key ring."""

_HEADING = "pgs-keyring 1"
_KID = re.compile(r"[a-z0-9]{1,16}", re.ASCII)


class RingKey(HidesSecrets, msgspec.Struct, frozen=True):
    """A secret of `SECRET_BYTES` bytes, and its id."""

    SECRETS = frozenset({"secret"})

    kid: str
    secret: bytes

    def __post_init__(self) -> None:
        if _KID.fullmatch(self.kid) is None or len(self.secret) != SECRET_BYTES:
            raise ValueError(
                "a ring key has a kid of 1 to 16 letters and digits,"
                f" and {SECRET_BYTES} secret bytes"
            )


class KeyRing(msgspec.Struct, frozen=True):
    """The keys, the current first: 1 to `MAX_KEYS`, each with its own `kid` (else ValueError)."""

    keys: tuple[RingKey, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.keys) <= MAX_KEYS or len({key.kid for key in self.keys}) != len(
            self.keys
        ):
            raise ValueError(f"a key ring holds 1 to {MAX_KEYS} keys with different kids")

    @property
    def current(self) -> RingKey:
        """The key with which new tokens, cursors and sealed secrets are made."""
        return self.keys[0]

    def find(self, kid: str) -> RingKey | None:
        """Return the key with that id, or None."""
        for key in self.keys:
            if key.kid == kid:
                return key
        return None


@lru_cache(maxsize=MAX_KEYS * 8)  # a derivation takes about 10 µs; keys and purposes are few
def derive(key: RingKey, purpose: str) -> bytes:
    """Return the 32-byte key for `purpose`, by HKDF-SHA256 (RFC 5869) without salt."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(key.secret)


class Hash(Protocol):
    """A state of a hash function, as `hashlib` makes it."""

    def copy(self) -> Hash:
        """Return an independent copy of this state."""
        ...

    def update(self, data: bytes, /) -> None:
        """Add `data` to the bytes that are hashed."""
        ...

    def digest(self) -> bytes:
        """Return the hash of all bytes added so far."""
        ...


@lru_cache(maxsize=MAX_KEYS * 8)
def _padded(key: RingKey, purpose: str) -> tuple[Hash, Hash]:
    """Return the two SHA-256 states with which an HMAC begins (RFC 2104). Copy them before use."""
    block = derive(key, purpose).ljust(hashlib.sha256().block_size, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    return inner, outer


def sign(key: RingKey, purpose: str, text: str, size: int = 32) -> str:
    """Return the HMAC-SHA256 of `text` for `purpose`, cut to `size` bytes, as base64url text.

    The function copies two states that are made only once; `hmac.digest` takes three times as long.
    """
    start, end = _padded(key, purpose)
    inner, outer = start.copy(), end.copy()
    inner.update(text.encode("ascii"))
    outer.update(inner.digest())
    return base64url.encode(outer.digest()[:size])


def same(one: str, other: str) -> bool:
    """Return whether two texts are equal, in constant time."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )


def new_ring(kid_entropy: bytes, secret_entropy: bytes) -> KeyRing:
    """Return a ring of one new key, from `KID_ENTROPY_BYTES` and `SECRET_BYTES` random bytes."""
    if len(kid_entropy) != KID_ENTROPY_BYTES:
        raise ValueError(f"a kid takes {KID_ENTROPY_BYTES} random bytes")
    return KeyRing((RingKey(kid_entropy.hex(), secret_entropy),))


def with_new_key(ring: KeyRing, kid_entropy: bytes, secret_entropy: bytes) -> KeyRing:
    """Return the ring with a new key in front. ValueError if the ring is full."""
    return KeyRing(new_ring(kid_entropy, secret_entropy).keys + ring.keys)


def with_accepted_key(ring: KeyRing, kid_entropy: bytes, secret_entropy: bytes) -> KeyRing:
    """Return the ring with a new key that is accepted but not used. ValueError if it is full."""
    return KeyRing(ring.keys + new_ring(kid_entropy, secret_entropy).keys)


def with_keys_of(ring: KeyRing, other: KeyRing) -> KeyRing:
    """Return `ring`, followed by the keys that only `other` has. ValueError if there is no room."""
    return KeyRing(ring.keys + tuple(key for key in other.keys if key not in ring.keys))


def with_current_key(ring: KeyRing, kid: str) -> KeyRing:
    """Return the ring with one of its keys in front. ValueError if it has no key of that id."""
    key = ring.find(kid)
    if key is None:
        raise ValueError(f"there is no key {kid} on the ring")
    return KeyRing((key, *(other for other in ring.keys if other != key)))


def format_ring(ring: KeyRing) -> str:
    """Return the text of the ring's file: a heading with the format's version, then a line per key.

    The current key comes first. The text contains the secrets, so only the service's own user may
    read the file.
    """
    lines = [f"{key.kid} {base64url.encode(key.secret)}" for key in ring.keys]
    return "\n".join([_HEADING, *lines, ""])


def parse_ring(text: str) -> KeyRing:
    """Return the ring that `format_ring` wrote.

    Raises ValueError for any other text. The message of the error does not quote the text.
    """
    heading, *lines = text.split("\n")
    if heading != _HEADING or not lines or lines.pop() != "":
        raise ValueError(
            f"not a key ring: it begins with the line {_HEADING!r} and ends with a line feed"
        )
    if len(lines) > MAX_KEYS:
        raise ValueError(f"a key ring holds at most {MAX_KEYS} keys")
    keys = []
    for number, line in enumerate(lines, start=2):
        kid, _, encoded = line.partition(" ")
        secret = base64url.decode(encoded)
        if _KID.fullmatch(kid) is None or secret is None or len(secret) != SECRET_BYTES:
            raise ValueError(
                f"line {number} of the key ring is not a kid, a space"
                f" and {SECRET_BYTES} bytes in base64url"
            )
        keys.append(RingKey(kid, secret))
    return KeyRing(tuple(keys))
