"""The times from which a node may answer for the shards that it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pgs.domain.leases import Last, Sightings, hold_from, starts_of


class Holds:
    """Remembers, for all sessions of one process, until when previous owners of shards may answer.

    A session may end while it waits for a shard's previous owner. Then the shard's row names only
    the session that ended. The owner before that session may still answer, so the next session of
    this process must wait for that owner, too.
    """

    def __init__(self) -> None:
        self._sessions: set[int] = set()  # the numbers of all sessions of this process
        self._until: dict[int, float] = {}  # by shard: until when the previous owner may answer

    def begin(self, number: int) -> None:
        """Note the number of a new session of this process."""
        self._sessions.add(number)

    def asked(self, shards: Collection[int], now: float) -> None:
        """Note that a session asked for shards and got no answer: it may have taken them."""
        self._until |= dict.fromkeys(shards, hold_from(now))

    def starts(
        self, sightings: Sightings, lasts: Mapping[int, Last | None], now: float
    ) -> dict[int, float]:
        """Return the time from which this node may answer for each shard that was taken."""
        found = starts_of(sightings, lasts, self._sessions, self._until, now)
        self._until |= found
        return found
