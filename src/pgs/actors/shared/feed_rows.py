"""Rows of the results feeds that were read lately, as the feed shows them.

A row of a feed never changes at its position: with each change it moves to the end. So what was
kept for a position stays true for as long as the position is found in the rows.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from pgs.domain.environments import Environment

KEPT_ROWS_MAX: Final = 10_000
"""Rows after which the rows that were kept before them are forgotten, unless they have been read
again. A row takes about a kilobyte, and twice as many rows are in memory at most: 20 MB."""

Feed = tuple[str, Environment]
"""A partner's id and an environment."""

R = TypeVar("R")


class FeedRows(Generic[R]):
    """Rows by feed and position, in two generations: those kept or found lately, and older ones."""

    def __init__(self, most: int = KEPT_ROWS_MAX) -> None:
        self._most = most
        self._count = 0  # rows of the young generation
        self._young: dict[Feed, dict[int, R]] = {}
        self._old: dict[Feed, dict[int, R]] = {}
        self._last: dict[Feed, int] = {}  # the highest position that was kept

    def reaches(self, feed: Feed, after: int) -> bool:
        """Return whether rows after a position may be here. If not, do not look up positions."""
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
        return found  # type: ignore[return-value]  # it has no None

    def keep(self, feed: Feed, rows: Mapping[int, R]) -> None:
        """Keep rows by their positions. Each must be in a committed row of the database."""
        if self._count >= self._most:
            self._old, self._young, self._count = self._young, {}, 0
            self._last = {each: max(kept) for each, kept in self._old.items()}
        kept = self._young.setdefault(feed, {})
        before = len(kept)
        kept.update(rows)
        self._count += len(kept) - before
        self._last[feed] = max(self._last.get(feed, 0), max(rows, default=0))

    def __len__(self) -> int:
        """Return how many rows of both generations are in memory; some may be in both."""
        return sum(len(rows) for kept in (self._young, self._old) for rows in kept.values())
