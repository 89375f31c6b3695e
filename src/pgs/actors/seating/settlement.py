"""Charges and payouts: a child task asks settlement for each and tells the seats actor the answer.

The embedded settlement confirms every charge at once. With it, the stake is charged in the
transaction that writes the seat, without this actor.
"""

from collections.abc import Mapping
from typing import ClassVar

import structlog
import trio

from pgs.actors.kernel.dispatch import DispatchingActor, Handler
from pgs.actors.kernel.mail import Envelope, Message
from pgs.actors.messages.seats import ChargeAnswered, PaidOut
from pgs.actors.messages.settlement import AskCharge, PayOut
from pgs.actors.partners import PartnerActors
from pgs.actors.ports import ChargeAnswer, Unpublished
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat

ANSWER_S = 10.0
"""Seconds that settlement may take to answer a charge or the payouts of a match. After that the
seat stays pending and its call is answered with 503, or the payouts stay due."""

log = structlog.get_logger("pgs.settlement")


class EmbeddedSettlement:
    """Settlement in the platform's own ledger. It confirms every stake and every payout."""

    instant = True

    def __init__(self, payout_delay_s: float = 0.0) -> None:
        self._payout_delay_s = payout_delay_s

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed` after the delay. The delay lets a demo show a payout that is due."""
        await trio.sleep(self._payout_delay_s)
        return "confirmed"


class SettlementActor(DispatchingActor):
    """One partner's charges and payouts. At most one request runs for each seat or match."""

    def __init__(self, partner: PartnerActors) -> None:
        self._partner = partner
        self._under_way: set[str] = set()  # ids of seats and matches

    async def load(self) -> None:
        """Do nothing. The seats actor repeats each request that got no answer."""

    async def _ask_charge(self, message: AskCharge, _: Envelope) -> None:
        seat = message.seat
        if seat.seat_id not in self._under_way:
            self._under_way.add(seat.seat_id)
            self._partner.parts.system.spawn(self._charge, seat)

    async def _pay_out(self, message: PayOut, _: Envelope) -> None:
        if message.match_id not in self._under_way:
            self._under_way.add(message.match_id)
            self._partner.parts.system.spawn(self._pay, message)

    async def _charge(self, seat: Seat) -> None:
        answer: ChargeAnswer | None = None
        try:
            with trio.move_on_after(ANSWER_S) as limit:
                answer = await self._partner.parts.settlement.charge(seat)
            if limit.cancelled_caught:
                self._report_unanswered(seat_id=seat.seat_id)
        except Unpublished as error:
            self._report_unanswered(seat_id=seat.seat_id, error=str(error))
        finally:
            self._under_way.discard(seat.seat_id)
            self._partner.seats(seat.environment).tell(ChargeAnswered(seat.seat_id, answer))

    async def _pay(self, message: PayOut) -> None:
        try:
            with trio.move_on_after(ANSWER_S) as limit:
                await self._pay_each(message)
            if limit.cancelled_caught:
                self._report_unanswered(match_id=message.match_id)
        except Unpublished as error:
            self._report_unanswered(match_id=message.match_id, error=str(error))
        finally:
            self._under_way.discard(message.match_id)

    async def _pay_each(self, message: PayOut) -> None:
        pay = self._partner.parts.settlement.pay
        answers = [await pay(message.match_id, payout) for payout in message.payouts]
        if all(answer == "confirmed" for answer in answers):
            self._partner.seats(message.environment).tell(PaidOut(message.match_id))

    def _report_unanswered(self, **what: str) -> None:
        self._partner.parts.on_event("settlement_unanswered")
        log.warning("settlement_unanswered", partner_id=self._partner.partner_id, **what)

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {AskCharge: _ask_charge, PayOut: _pay_out}
