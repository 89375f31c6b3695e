"""The demo's settlement: pays late, so that the story can show a result before its money."""

import trio

from pgs.actors.ports import ChargeAnswer
from pgs.actors.seating.settlement_actor import EmbeddedSettlement
from pgs.domain.payouts import Payout

PAYOUT_DELAY_S = 1.5
"""Seconds that the demo's settlement takes to pay. That is long enough to see the feed between a
decision and its money, and short enough to wait for."""


class DelayedSettlement(EmbeddedSettlement):
    """Waits until `may_pay` is set, then for `PAYOUT_DELAY_S`, and then pays.

    The story sets `may_pay` when it has shown the result without the money, so it does not depend
    on the machine's speed. While `at_once` is true, payouts do not wait at all.
    """

    def __init__(self) -> None:
        super().__init__(PAYOUT_DELAY_S)
        self.may_pay = trio.Event()
        self.at_once = False

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Wait for `may_pay` and for the delay; return the embedded settlement's answer."""
        if self.at_once:
            return "confirmed"
        await self.may_pay.wait()
        return await super().pay(match_id, payout)
