"""Makes the ids of requests."""

from collections.abc import Callable
from typing import Final

from pgs.domain.ids import ENTROPY_BYTES, REQUEST, TIME_DIGITS

DRAWN_TOGETHER: Final = 256
"""Ids whose random bytes are drawn together, because each draw calls the system."""

_DIGITS: Final = 2 * ENTROPY_BYTES
"""Hex digits of the randomness in one id."""

_START: Final = f"{REQUEST}_"
_TIME: Final = f"0{TIME_DIGITS}x"


class RequestIds:
    """Makes the ids that `new_id` makes for `REQUEST`.

    `now_ms` returns epoch milliseconds, and `random_bytes` that many random bytes. The random
    digits of the next ids are already in memory.
    """

    def __init__(self, now_ms: Callable[[], int], random_bytes: Callable[[int], bytes]) -> None:
        self._now_ms = now_ms
        self._random_bytes = random_bytes
        self._digits: list[str] = []  # those of the next ids; each is used once

    def new(self) -> str:
        """Return the id of one more request."""
        if not self._digits:
            drawn = self._random_bytes(DRAWN_TOGETHER * ENTROPY_BYTES).hex()
            self._digits = [drawn[at : at + _DIGITS] for at in range(0, len(drawn), _DIGITS)]
        return f"{_START}{self._now_ms():{_TIME}}{self._digits.pop()}"
