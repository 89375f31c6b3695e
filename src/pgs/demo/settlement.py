"""The demo's settlement: the embedded one, held back so that a result can be seen before its money is."""

import trio

from pgs.actors.ports import ChargeAnswer
from pgs.actors.seating.settlement import EmbeddedSettlement
from pgs.domain.seats import Payout

PAYOUT_DELAY_S = 1.5
"""Seconds that the demo's settlement takes to pay. Long enough to see the feed between a decision
and its money, and short enough to wait for."""


class DelayedSettlement(EmbeddedSettlement):
    """Pays out `PAYOUT_DELAY_S` after it is asked, and not before `curtain` is set: how fast the machine is decides nothing."""

    def __init__(self) -> None:
        super().__init__(PAYOUT_DELAY_S)
        self.curtain = trio.Event()

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`, in its own time."""
        await self.curtain.wait()
        return await super().pay(match_id, payout)
