"""Time that is stored or shown, and randomness: no other file may ask the machine for them.

Everything else receives a `Clock` and an `Rng`, so that a test can control both. Waiting uses
trio's own clock. A `Clock` gives the time that is stored, shown, or compared with other clocks.
"""

import os
import time
from collections.abc import Callable
from typing import Final, Protocol

import structlog

BEHIND_MS: Final = 5_000
"""Milliseconds by which the machine's clock may be behind an earlier reading before this is logged.
Time servers often make smaller corrections."""

log = structlog.get_logger("pgs.clock")


class Clock(Protocol):
    """Wall time for whatever is stored or shown. It never goes back within a process.

    `real` and `real_ms` are what the machine's clock says, and may go back. They are for what
    somebody outside compares with another clock: tokens, signatures and codes.
    """

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        ...

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        ...

    def real(self) -> int:
        """Return the Unix epoch seconds that the machine's clock shows, rounded down."""
        ...

    def real_ms(self) -> int:
        """Return the Unix epoch milliseconds that the machine's clock shows, rounded down."""
        ...


class Rng(Protocol):
    """Unpredictable bytes."""

    def bytes(self, count: int) -> bytes:
        """Return `count` random bytes."""
        ...


class HeldTime:
    """Time that never goes back, made from readings that may go back.

    While readings are below the highest one, the time is the highest one.
    """

    def __init__(self) -> None:
        self.latest_ms = 0
        self._told_ms = -1  # the `latest_ms` when a reading was last reported as behind

    def newly_behind_ms(self, reading_ms: int) -> int:
        """Note a reading; return how many milliseconds it is behind if that must be reported.

        Returns 0 if it is at most `BEHIND_MS` behind, or if this was already reported since the
        readings last caught up.
        """
        behind_ms = self.latest_ms - reading_ms
        if behind_ms <= 0:
            self.latest_ms = reading_ms
            self._told_ms = -1
            return 0
        if behind_ms <= BEHIND_MS or self._told_ms == self.latest_ms:
            return 0
        self._told_ms = self.latest_ms
        return behind_ms


class SystemClock:
    """The machine's clock, except that it stands still after the machine's clock was set back.

    Until the machine's clock has caught up, nothing falls due. If it is behind by more than
    `BEHIND_MS`, this is logged and counted with `on_event`, only once until it has caught up.
    Without `on_event`, as in the log's own clock, it is neither logged nor counted.
    """

    def __init__(self, on_event: Callable[[str], None] | None = None) -> None:
        self._held = HeldTime()
        self._on_event = on_event

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        return self.now_ms() // 1000

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        reading_ms, held = time.time_ns() // 1_000_000, self._held
        if reading_ms >= held.latest_ms:  # always, unless the machine's clock was set back
            held.latest_ms = reading_ms
            return reading_ms
        behind_ms = held.newly_behind_ms(reading_ms)
        if behind_ms and self._on_event is not None:
            self._on_event("clock_behind")
            log.error("clock_behind", behind_s=behind_ms // 1000)
        return held.latest_ms

    def real(self) -> int:
        """Return the Unix epoch seconds that the machine's clock shows, rounded down."""
        return time.time_ns() // 1_000_000_000

    def real_ms(self) -> int:
        """Return the Unix epoch milliseconds that the machine's clock shows, rounded down."""
        return time.time_ns() // 1_000_000


class SystemRng:
    """The operating system's random source."""

    def bytes(self, count: int) -> bytes:
        """Return `count` random bytes."""
        return os.urandom(count)
