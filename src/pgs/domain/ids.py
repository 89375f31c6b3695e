"""Ids of everything the service names itself: a type prefix and 128 random bits in hex.

They are opaque to clients and never derived from a database sequence, so that no id tells how much a partner plays.
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

ENTROPY_BYTES: Final = 16
"""Bytes of randomness in one id: 128 bits, which can neither be guessed nor collide."""

_BODY = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_id(prefix: str, entropy: bytes) -> str:
    """Return the id `<prefix>_<32 lower-case hex>`.

    `prefix` is one of `PREFIXES`; `entropy` is exactly `ENTROPY_BYTES` random bytes. Anything else is a bug: ValueError.
    """
    if prefix not in PREFIXES or len(entropy) != ENTROPY_BYTES:
        raise ValueError(
            f"an id takes a known prefix and {ENTROPY_BYTES} bytes, not {prefix!r} and {len(entropy)}"
        )
    return f"{prefix}_{entropy.hex()}"


def is_id(prefix: str, text: str) -> bool:
    """Return whether `text` has the shape of an id that `new_id(prefix, …)` makes; it may still name nothing."""
    return text.startswith(f"{prefix}_") and _BODY.fullmatch(text, len(prefix) + 1) is not None
