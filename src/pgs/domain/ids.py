"""Ids that the service creates: a type prefix, the second of creation, and 96 random bits, in hex.

Ids are opaque to clients. They do not come from a database sequence, which would show how much a
partner plays. They begin with the time so that the newest rows are neighbours in every index of
ids: a database of many rows then writes to few pages, as with UUID version 7 (RFC 9562).
"""

import re
from typing import Final

MATCH: Final = "mat"
SEAT: Final = "sea"
INVOICE: Final = "inv"
INVOICE_LINE: Final = "lin"
KEY: Final = "key"
INVITE: Final = "ivt"
ATTEMPT: Final = "att"
NUDGE: Final = "ndg"
EVENT: Final = "evt"
REQUEST: Final = "req"

PREFIXES: Final = (MATCH, SEAT, INVOICE, INVOICE_LINE, KEY, INVITE, ATTEMPT, NUDGE, EVENT, REQUEST)

ENTROPY_BYTES: Final = 12
"""Bytes of randomness in one id: 96 bits, which can neither be guessed nor collide."""

_BODY = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_id(prefix: str, at: int, entropy: bytes) -> str:
    """Return the id `<prefix>_<32 lower-case hex>`.

    `prefix` is one of `PREFIXES`; `at` is the time of creation in epoch seconds, of which the id
    has the lowest 32 bits; `entropy` is exactly `ENTROPY_BYTES` random bytes. Raises `ValueError`
    for another prefix or number of bytes.
    """
    if prefix not in PREFIXES or len(entropy) != ENTROPY_BYTES:
        raise ValueError(
            f"an id takes a known prefix and {ENTROPY_BYTES} bytes, "
            f"not {prefix!r} and {len(entropy)}"
        )
    return f"{prefix}_{at & 0xFFFFFFFF:08x}{entropy.hex()}"


def first_id(prefix: str, at: int) -> str:
    """Return a text that sorts before every id made at `at` or later, and after every earlier id.

    `at` in epoch seconds, from 0 to 2**32 - 1.
    """
    return f"{prefix}_{at:08x}"


def made_at(new: str) -> int:
    """Return the lowest 32 bits of the epoch second in which an id of `new_id` was made."""
    return int(new.partition("_")[2][:8], 16)


def is_id(prefix: str, text: str) -> bool:
    """Return whether `text` has the form of an id with this prefix, even if no such id exists."""
    return text.startswith(f"{prefix}_") and _BODY.fullmatch(text, len(prefix) + 1) is not None
