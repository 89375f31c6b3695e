"""How many charges and payouts are open, counted every minute, and when to report old ones."""

from typing import Final

from pgs.storage.open_money import OpenCount

OVERDUE_S: Final = 24 * 3600
"""Seconds after which an open charge or payout is reported. Outages end sooner, so what is still
open needs a person."""

TELL_EVERY_S: Final = 24 * 3600
"""Seconds between two log lines while items stay overdue: one line a day, so that nobody mutes the
lines. After a count that finds nothing overdue, the next overdue item is logged at once."""


class OpenMoney:
    """The last count. It changes in one step, so readers never see half of it."""

    def __init__(self) -> None:
        self.charges = OpenCount()
        self.payouts = OpenCount()
        self._told_at: int | None = None

    @property
    def overdue(self) -> int:
        """How many charges and payouts have been open for more than a day."""
        return self.charges.overdue + self.payouts.overdue

    def note_count(self, charges: OpenCount, payouts: OpenCount, now: int) -> bool:
        """Note a count; return True if overdue items must be logged now.

        They are logged by the first count that finds any, and then once in `TELL_EVERY_S` until a
        count finds none.
        """
        self.charges, self.payouts = charges, payouts
        if not self.overdue:
            self._told_at = None
            return False
        if self._told_at is not None and now - self._told_at < TELL_EVERY_S:
            return False
        self._told_at = now
        return True
