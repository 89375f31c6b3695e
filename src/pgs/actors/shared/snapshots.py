"""The age of a published snapshot, and when it is too old to answer from."""

from math import inf

REFRESH_S = 60.0
"""Seconds between two readings of the rows from which a snapshot is made. A change by this process
is published at once; a reading finds the changes by others."""

STALE_S = 600.0
"""Seconds after its reading at which a snapshot is too old to answer from: the 10 minutes that the
interface promises."""


class Age:
    """How long ago a snapshot was read, and whether it may still be used."""

    def __init__(self) -> None:
        self._read_at = -inf

    def renew(self, read_at: float) -> None:
        """Count the age from a reading that began at `read_at`, in trio's time."""
        self._read_at = read_at

    def seconds(self, now: float) -> float:
        """Return the age in seconds; infinity if nothing has been read yet."""
        return now - self._read_at

    def is_closed(self, now: float) -> bool:
        """Return whether the snapshot is too old to answer from."""
        return now - self._read_at >= STALE_S
