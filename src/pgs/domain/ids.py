"""Ids that the service creates: a type prefix, the millisecond of creation, and 80 random bits.

Ids are opaque to clients. They do not come from a database sequence, which would show how much a
partner plays. The time comes before the random bits, so that the newest rows are neighbours in
every index of ids: a database of many rows then writes to few pages. The time has 48 bits, as in
UUID version 7 (RFC 9562), which puts it first for the same reason.
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

TIME_DIGITS: Final = 12
"""Digits of the time, in hex: 48 bits of epoch milliseconds last until the year 10889."""

ENTROPY_BYTES: Final = 10
"""Bytes of randomness in one id: 80 bits, which can neither be guessed nor collide."""

_BODY = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_id(prefix: str, at_ms: int, entropy: bytes) -> str:
    """Return the id `<prefix>_<32 lower-case hex>`.

    `prefix` is one of `PREFIXES`; `at_ms` is the time of creation in epoch milliseconds; `entropy`
    is exactly `ENTROPY_BYTES` random bytes. Raises `ValueError` for another prefix or number of
    bytes.
    """
    if prefix not in PREFIXES or len(entropy) != ENTROPY_BYTES:
        raise ValueError(
            f"an id takes a known prefix and {ENTROPY_BYTES} bytes, "
            f"not {prefix!r} and {len(entropy)}"
        )
    return f"{prefix}_{at_ms:0{TIME_DIGITS}x}{entropy.hex()}"


def first_id(prefix: str, at: int) -> str:
    """Return a text that sorts before every id made at `at` or later, and after every earlier id.

    `at` in epoch seconds, from 0 on.
    """
    return f"{prefix}_{at * 1000:0{TIME_DIGITS}x}"


def made_at(new: str) -> int:
    """Return the epoch second in which an id of `new_id` was made."""
    return int(new.partition("_")[2][:TIME_DIGITS], 16) // 1000


def is_id(prefix: str, text: str) -> bool:
    """Return whether `text` has the form of an id with this prefix, even if no such id exists."""
    return text.startswith(f"{prefix}_") and _BODY.fullmatch(text, len(prefix) + 1) is not None
