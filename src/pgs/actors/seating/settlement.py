"""Charges and payouts: asynchronous work at a port, reported back to the seats as messages.

The port is whatever holds the players' money. The embedded one knows every answer without asking anybody, so that a stake is charged in the
transaction of its seat; a remote one is asked by a child task for each seat or match.
"""

import structlog
import trio

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import ChargeAnswered, PaidOut
from pgs.actors.messages.settlement import AskCharge, PayOut
from pgs.actors.partners import PartnerActors
from pgs.actors.ports import ChargeAnswer, Unpublished
from pgs.domain.seats import Payout, Seat

ANSWER_S = 10.0
"""Seconds that settlement may take to answer for a charge. After that the seat is pending, and its
call is answered with 503."""

log = structlog.get_logger("pgs.settlement")


class EmbeddedSettlement:
    """The platform's own ledger: stakes are always good, and payouts are made by booking them."""

    instant = True

    def __init__(self, payout_delay_s: float = 0.0) -> None:
        self._payout_delay_s = payout_delay_s

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`, after the delay that a demonstration may want."""
        await trio.sleep(self._payout_delay_s)
        return "confirmed"


class SettlementActor:
    """One partner's charges and payouts under way: at most one try for a seat or a match at a time."""

    def __init__(self, partner: PartnerActors) -> None:
        self._partner = partner
        self._under_way: set[str] = set()

    async def load(self) -> None:
        """Nothing to read: what is open stands on seats and matches, whose deadlines ask again."""

    async def receive(self, message: AskCharge | PayOut, envelope: Envelope) -> None:
        """Start a child for what is asked, unless one is at it."""
        subject = message.seat.seat_id if isinstance(message, AskCharge) else message.match_id
        if subject in self._under_way:
            return
        self._under_way.add(subject)
        if isinstance(message, AskCharge):
            self._partner.parts.system.spawn(self._charge, message.seat)
        else:
            self._partner.parts.system.spawn(self._pay, message)

    async def _charge(self, seat: Seat) -> None:
        answer: ChargeAnswer | None = None
        try:
            with trio.move_on_after(ANSWER_S) as limit:
                answer = await self._partner.parts.settlement.charge(seat)
            if limit.cancelled_caught:
                self._unanswered(seat_id=seat.seat_id)
        except Unpublished as error:
            self._unanswered(seat_id=seat.seat_id, error=str(error))
        finally:
            self._under_way.discard(seat.seat_id)
            self._partner.seats(seat.environment).tell(ChargeAnswered(seat.seat_id, answer))

    async def _pay(self, message: PayOut) -> None:
        try:
            with trio.move_on_after(ANSWER_S) as limit:
                answers = [
                    await self._partner.parts.settlement.pay(message.match_id, payout)
                    for payout in message.payouts
                ]
                if all(answer == "confirmed" for answer in answers):
                    self._partner.seats(message.environment).tell(PaidOut(message.match_id))
            if limit.cancelled_caught:
                self._unanswered(match_id=message.match_id)
        except Unpublished as error:
            self._unanswered(match_id=message.match_id, error=str(error))
        finally:
            self._under_way.discard(message.match_id)

    def _unanswered(self, **what: str) -> None:
        self._partner.parts.on_event("settlement_unanswered")
        log.warning("settlement_unanswered", partner_id=self._partner.partner_id, **what)
