"""How far the first start on a restored copy advances the feeds, on both engines.

Partners may hold cursors that were issued after the copy was made. If the restored feeds continued
from their old positions, these cursors would be ahead of new rows, and their readers would never
see those rows. So the first start on a copy advances every feed's head past every position that can
have been issued.
"""

from typing import Final

from pgs.storage.transactions import Params

FEED_GAP: Final = 10**9
"""Positions that a restored feed skips. No service uses that many in a day, so one restore of a
copy that is at most a day old is safe even if the clock is wrong."""

POSITIONS_A_SECOND: Final = 1_000_000
"""Positions that a feed is taken to have used in each second since FEED_EPOCH. The first start on a
copy multiplies them by the seconds since FEED_EPOCH, and the copy's feeds continue above the
product. No service writes so many rows a second, so every position issued before is lower than the
new ones, even after several restores of the same copy. Positions stay below 2^53 for 285 years."""

FEED_EPOCH: Final = 1_735_689_600
"""Unix time of 2025-01-01. No feed is older."""


def advance_params(now: int) -> Params:
    """Return the parameters of `backup.advance_feed_heads` at `now`, in epoch seconds."""
    return {"floor": max(0, now - FEED_EPOCH) * POSITIONS_A_SECOND, "gap": FEED_GAP}
