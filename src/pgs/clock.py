"""Where time and randomness enter the product: the only file that may ask the machine for either.

Everything else receives a `Clock` and an `Rng`, so that a test can hold both still. Waiting is a matter of trio's own clock; a `Clock`
gives only what is stored or shown.
"""

import os
import time
from typing import Protocol

import trio


class Clock(Protocol):
    """Wall time for whatever is stored or shown. It never goes back within a process."""

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        ...

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        ...


class Rng(Protocol):
    """Unpredictable bytes."""

    def bytes(self, count: int) -> bytes:
        """Return `count` random bytes."""
        ...


class SystemClock:
    """The machine's wall clock, held at its highest reading while the machine's clock is set back."""

    def __init__(self) -> None:
        self._latest_ms = 0

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        return self.now_ms() // 1000

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        self._latest_ms = max(self._latest_ms, time.time_ns() // 1_000_000)
        return self._latest_ms


class TrioClock:
    """Wall time that follows trio's clock from a fixed start: exact seconds under a virtual clock."""

    def __init__(self, start: int) -> None:
        self._start_ms = start * 1000

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        return self.now_ms() // 1000

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        # A virtual clock adds floats: rounded to microseconds first, ten times 0.1 is a full second.
        return self._start_ms + round(trio.current_time() * 1_000_000) // 1000


class SystemRng:
    """The operating system's random source."""

    def bytes(self, count: int) -> bytes:
        """Return `count` random bytes."""
        return os.urandom(count)
