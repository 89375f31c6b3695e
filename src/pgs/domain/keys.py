"""API keys: how they are made, recognised and stored.

A key is `pgs_<environment>_` and 46 base62 characters: 3 of slot, 37 random, 6 of checksum. The
checksum lets the service refuse a mistyped or cut key without a look-up; it does not prove that a
key is valid. The service keeps only a key's SHA-256 and its last four characters.
"""

import hashlib
import re
import zlib
from functools import lru_cache
from typing import Final

import msgspec

from pgs.domain.environments import Environment

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

SLOTS: Final = 4096
"""Slots among which partners are divided, for routing. Keys in use contain their partner's slot, so
neither this number nor `slot_of` may ever change."""

ENTROPY_BYTES: Final = 36
"""Bytes of randomness for one key. Its 37 random base62 characters are this 288-bit number modulo
62**37: 220.3 bits. So no string is likelier than another by more than one part in 2**67."""

ROTATION_S: Final = 7 * 24 * 3600
"""Seconds for which a rotated key still works beside the new one: the 7 days that the interface
promises."""

KEYS_MAX: Final = 1000
"""Keys of one account, revoked ones included, because the account holds all of them in memory. Two
keys rotated every month make 24 a year."""

_RANDOM_CHARACTERS = 37
"""Characters of a key that are random: the interface's 46 minus slot and checksum. Nobody can guess
37 characters of base62."""

_CHECKSUM_CHARACTERS = 6
"""Characters of a key's checksum: as many as a CRC-32 takes in base62."""

KEY_MARKS: Final = ("pgs_live_", "pgs_test_")
"""How the keys of the two environments begin."""

KEY_LENGTH: Final = len(KEY_MARKS[0]) + 46
"""Characters of a key. Both beginnings have the same length."""

_KEY = re.compile(r"pgs_(live|test)_([0-9A-Za-z]{3})[0-9A-Za-z]{43}", re.ASCII)
# RFC 9110, section 11.4: the scheme in any case, one or more spaces, then a token68.
_BEARER = re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")


class ParsedKey(msgspec.Struct, frozen=True):
    """What a well-formed key says about itself. Look the key up before you trust it."""

    environment: Environment
    slot: str


def make_key(environment: Environment, partner_id: str, entropy: bytes) -> str:
    """Return a new key of 55 ASCII characters.

    `entropy` is exactly `ENTROPY_BYTES` random bytes (else ValueError).
    """
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"a key takes {ENTROPY_BYTES} bytes of entropy, not {len(entropy)}")
    number = int.from_bytes(entropy, "big") % 62**_RANDOM_CHARACTERS
    head = f"pgs_{environment}_{slot_of(partner_id)}{_base62(number, _RANDOM_CHARACTERS)}"
    return head + _checksum(head)


def parse_key(text: str) -> ParsedKey | None:
    """Return what the key says about itself, or None if its shape or checksum is wrong.

    Takes any string.
    """
    if len(text) != KEY_LENGTH:
        return None
    found = _KEY.fullmatch(text)
    if found is None or _checksum(text[:-_CHECKSUM_CHARACTERS]) != text[-_CHECKSUM_CHARACTERS:]:
        return None
    return ParsedKey("live" if found[1] == "live" else "test", found[2])


def parse_bearer(header: bytes | str | None) -> str | None:
    """Return the token of an `Authorization` value; None if it is not exactly one Bearer token."""
    if header is None:
        return None
    if isinstance(header, str):
        if not header.isascii():
            return None
        header = header.encode("ascii")
    found = _BEARER.fullmatch(header)
    return None if found is None else found[1].decode("ascii")


def hash_key(text: str) -> str:
    """Return the SHA-256 of a key in lower-case hex, by which it is stored and looked up.

    A plain hash is enough: a key holds 220 random bits, so nobody can try all keys.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_of_bearer(header: bytes) -> str:
    """Return the hash of the token in an `Authorization` value, as `hash_key` returns it.

    Return an empty text, which is no key's hash, for a value that `parse_bearer` refuses.
    """
    found = _BEARER.fullmatch(header)
    return "" if found is None else hashlib.sha256(found[1]).hexdigest()


@lru_cache(maxsize=4096)
def slot_of(partner_id: str) -> str:
    """Return the partner's routing slot, three lower-case hex digits.

    Slots divide the partners among nodes.
    """
    return f"{zlib.crc32(partner_id.encode('ascii')) % SLOTS:03x}"


def last4(text: str) -> str:
    """Return the last four characters, which tell keys apart in a list. All are checksum digits."""
    return text[-4:]


def _checksum(head: str) -> str:
    return _base62(zlib.crc32(head.encode("ascii")), _CHECKSUM_CHARACTERS)


def _base62(number: int, width: int) -> str:
    """Return `number` in base 62 as `width` digits, the most significant first."""
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
