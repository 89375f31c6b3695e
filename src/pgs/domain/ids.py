"""Ids that the service creates: a type prefix, the millisecond of creation, and 80 random bits.

Ids are opaque to clients. They do not come from a database sequence, which would show how much a
partner plays. The time comes before the random bits, so that the newest rows are neighbours in
every index of ids: a database of many rows then writes to few pages. The time has 48 bits, as in
UUID version 7 (RFC 9562), which puts it first for the same reason.
"""

import re
from collections.abc import Callable
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

DRAWN_TOGETHER: Final = 256
"""Ids whose random bytes are drawn together, because each draw calls the system."""

_TIME: Final = f"0{TIME_DIGITS}x"

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
    return f"{prefix}_{at_ms:{_TIME}}{entropy.hex()}"


class Ids:
    """Makes the ids that `new_id` makes. The random digits of the next ones are in memory already.

    `now_ms` returns epoch milliseconds, and `random_bytes` takes how many bytes it shall return.
    """

    def __init__(self, now_ms: Callable[[], int], random_bytes: Callable[[int], bytes]) -> None:
        self._now_ms = now_ms
        self._random_bytes = random_bytes
        self._digits: list[str] = []  # of the next ids, the first one at the end; each is used once

    def new(self, prefix: str, at_ms: int | None = None) -> str:
        """Return an id that is created at `at_ms` (epoch milliseconds), or now.

        Raises `ValueError` for a prefix not in `PREFIXES`.
        """
        if prefix not in PREFIXES:
            raise ValueError(f"an id takes a known prefix, not {prefix!r}")
        if not self._digits:
            self._draw()
        if at_ms is None:
            at_ms = self._now_ms()
        return f"{prefix}_{at_ms:{_TIME}}{self._digits.pop()}"

    def _draw(self) -> None:
        drawn = self._random_bytes(DRAWN_TOGETHER * ENTROPY_BYTES)
        self._digits = drawn.hex(" ", ENTROPY_BYTES).split()[::-1]


def first_id(prefix: str, at: int) -> str:
    """Return a text that divides the ids with this prefix by the time at which they were made.

    It sorts after every id made before `at`, and before every id made at `at` or later. `at` is in
    epoch seconds, from 0 on.
    """
    return f"{prefix}_{at * 1000:{_TIME}}"


def made_at(new: str) -> int:
    """Return the epoch second in which an id of `new_id` was made."""
    return int(new.partition("_")[2][:TIME_DIGITS], 16) // 1000


def is_id(prefix: str, text: str) -> bool:
    """Return whether `text` has the form of an id with this prefix, even if no such id exists."""
    return text.startswith(f"{prefix}_") and _BODY.fullmatch(text, len(prefix) + 1) is not None
