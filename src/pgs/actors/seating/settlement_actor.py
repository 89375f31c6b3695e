"""Asks settlement for charges and payouts, in child tasks, and tells the seats actor the result.

The seats actor is told the answer to each charge. It is told of the payouts of a match only once
all of them are confirmed. A declined payout waits for an operator.

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
from pgs.actors.ports import ChargeAnswer, SettlementPort
from pgs.actors.seating.settlement_call import ANSWER_S, Question, ask
from pgs.domain.payouts import Payout, payout_id
from pgs.domain.seats import Seat
from pgs.storage.open_money import payouts_resolved

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
    """One partner's charges and payouts. At most one call runs for each seat or payout."""

    def __init__(self, partner: PartnerActors) -> None:
        self._partner = partner
        self._partner_id = partner.partner_id
        self._parts = partner.parts
        self._settlements = partner.parts.settlements
        self._asks = partner.parts.settlements.asks

    async def load(self) -> None:
        """Do nothing. The seats actor repeats each request that got no answer."""

    async def _ask_charge(self, message: AskCharge, _: Envelope) -> None:
        port, seat = self._settlements.port(message.seat.settlement), message.seat
        if port is None:  # tell the waiting callers that no answer will come
            self._tell_charge(seat, None)
        elif self._asks.begin(self._partner_id, seat.seat_id):
            self._partner.spawn(self._charge, port, message)

    async def _pay_out(self, message: PayOut, _: Envelope) -> None:
        port = self._settlements.port(message.settlement)
        if port is None:
            return
        if port.instant:
            if self._asks.begin(self._partner_id, message.match_id):
                self._partner.spawn(self._pay_at_once, port, message)
            return
        await self._note_resolved(message.match_id)
        if self._tell_if_paid(message):
            return
        for payout in message.payouts:
            item_id = payout_id(message.match_id, payout.seat_id)
            # A declined payout waits for an operator.
            if self._asks.find(self._partner_id, item_id).said not in (
                "confirmed",
                "declined",
            ) and self._asks.begin(self._partner_id, item_id):
                self._partner.spawn(self._pay, port, message, payout)

    async def _charge(self, port: SettlementPort, message: AskCharge) -> None:
        seat = message.seat
        names = {"seat_id": seat.seat_id}
        if message.request_id is not None:
            names["request_id"] = message.request_id
        answer: ChargeAnswer | None = None
        try:
            question = Question(
                "charge",
                self._partner_id,
                seat.seat_id,
                lambda: port.charge(seat),
                message.again,
                names,
            )
            answer = await ask(self._parts, question)
            if answer in ("confirmed", "declined"):
                self._asks.forget(self._partner_id, seat.seat_id)
        finally:
            self._asks.end(self._partner_id, seat.seat_id)
            self._tell_charge(seat, answer)

    async def _pay(self, port: SettlementPort, message: PayOut, payout: Payout) -> None:
        match_id = message.match_id
        item_id = payout_id(match_id, payout.seat_id)
        try:
            question = Question(
                "payout",
                self._partner_id,
                item_id,
                lambda: port.pay(match_id, payout),
                message.again,
                {"match_id": match_id, "seat_id": payout.seat_id},
            )
            answer = await ask(self._parts, question)
        finally:
            self._asks.end(self._partner_id, item_id)
        if answer == "confirmed":
            self._tell_if_paid(message)
        elif answer == "declined":
            self._report_declined(match_id, payout)

    async def _pay_at_once(self, port: SettlementPort, message: PayOut) -> None:
        """Pay everything that a match owes in one task: the embedded settlement confirms it all."""
        try:
            with trio.move_on_after(ANSWER_S):
                answers = [await port.pay(message.match_id, payout) for payout in message.payouts]
                if all(answer == "confirmed" for answer in answers):
                    self._partner.seats(message.environment).tell(PaidOut(message.match_id))
        finally:
            self._asks.end(self._partner_id, message.match_id)

    async def _note_resolved(self, match_id: str) -> None:
        """Note the payouts that an operator has declared confirmed."""
        reader = self._parts.database.reader
        for seat_id in await payouts_resolved(reader, self._partner_id, match_id):
            self._asks.confirm(self._partner_id, payout_id(match_id, seat_id))

    def _tell_if_paid(self, message: PayOut) -> bool:
        """If every payout of the match is confirmed, tell the seats actor and return True."""
        paid = all(
            self._asks.find(self._partner_id, payout_id(message.match_id, payout.seat_id)).said
            == "confirmed"
            for payout in message.payouts
        )
        if paid:
            self._partner.seats(message.environment).tell(PaidOut(message.match_id))
        return paid

    def _tell_charge(self, seat: Seat, answer: ChargeAnswer | None) -> None:
        self._partner.seats(seat.environment).tell(ChargeAnswered(seat.seat_id, answer))

    def _report_declined(self, match_id: str, payout: Payout) -> None:
        self._parts.on_event("payout_declined")
        log.error(
            "payout_declined",
            partner_id=self._partner_id,
            match_id=match_id,
            seat_id=payout.seat_id,
            kind=payout.kind,
            amount_usd_cents=payout.amount_usd_cents,
        )

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {AskCharge: _ask_charge, PayOut: _pay_out}
