"""Rows of the results feeds that are read again and again, as the feed shows them.

With each change a row moves to the end of its feed and gets a new position. So a kept row is right
as long as the database still has a row at its position.

Most backends read each row once. Keeping such a row would cost a quarter of reading it, so the
first read of a row only notes how far its feed has been read.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from pgs.domain.environments import Environment

KEPT_ROWS_MAX: Final = 10_000
"""Rows that make a generation full. Memory keeps rows of all feeds in two generations: a younger
one and an older one. New rows enter the younger one, and so do rows of the older one that are read
again. When the younger generation is full, it becomes the older one, and the previous older one is
forgotten. A row takes about a kilobyte, so both generations take up to 20 MB."""

Feed = tuple[str, Environment]
"""A partner's id and an environment."""

R = TypeVar("R")


class FeedRows(Generic[R]):
    """Rows by feed and position, in two generations: recently kept or read rows, and older ones."""

    def __init__(self, most: int = KEPT_ROWS_MAX) -> None:
        self._most = most
        self._count = 0  # rows of the young generation
        self._young: dict[Feed, dict[int, R]] = {}
        self._old: dict[Feed, dict[int, R]] = {}
        self._last: dict[Feed, int] = {}  # the highest position that was kept
        self._read: dict[Feed, int] = {}  # the highest position that was read

    def reaches(self, feed: Feed, after: int) -> bool:
        """Return whether memory may hold rows after a position; if not, a look-up is useless."""
        return self._last.get(feed, 0) > after

    def find(self, feed: Feed, positions: Sequence[int]) -> list[R] | None:
        """Return the rows at these positions, or None if one of them is missing."""
        young, old = self._young.get(feed, {}), self._old.get(feed, {})
        found = [young.get(position) or old.get(position) for position in positions]
        if None in found:
            return None
        aged = {position: old[position] for position in positions if position not in young}
        if aged:
            self.keep(feed, aged)
        return found  # type: ignore[return-value]  # None was ruled out above

    def note(self, feed: Feed, after: int, last: int) -> bool:
        """Note that the rows from `after` to `last` were read; return whether to keep them.

        They are to be kept if some of them were read before.
        """
        read = self._read.get(feed, 0)
        if last > read:
            self._read[feed] = last
        return after < read

    def keep(self, feed: Feed, rows: Mapping[int, R]) -> None:
        """Keep rows by their positions. Each must have been committed to the database."""
        if not rows:
            return
        if self._count >= self._most:
            self._old, self._young, self._count = self._young, {}, 0
            self._last = {each: max(kept) for each, kept in self._old.items()}
        kept = self._young.setdefault(feed, {})
        before = len(kept)
        kept.update(rows)
        self._count += len(kept) - before
        self._last[feed] = max(self._last.get(feed, 0), max(rows))

    def forget(self, belongs: Callable[[str], bool]) -> None:
        """Forget the rows of these partners."""
        for kept in (self._young, self._old):
            for feed in [feed for feed in kept if belongs(feed[0])]:
                del kept[feed]
        for highest in (self._last, self._read):
            for feed in [feed for feed in highest if belongs(feed[0])]:
                del highest[feed]
        self._count = sum(map(len, self._young.values()))

    def __len__(self) -> int:
        """Return how many rows of both generations are in memory; some may be in both."""
        return sum(len(rows) for kept in (self._young, self._old) for rows in kept.values())
