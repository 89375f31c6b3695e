"""What operators do about charges and payouts that settlement leaves open."""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import (
    AskChargeNow,
    AskedNow,
    AskPayoutsNow,
    ChargeAnswered,
    PayoutResolved,
    ResolveCharge,
    ResolvePayout,
)
from pgs.actors.messages.settlement import AskCharge
from pgs.actors.seating.payouts import ask_for_payouts
from pgs.actors.seating.seats_state import SeatsState
from pgs.actors.seating.staking import charge_answered
from pgs.domain.matches import MatchWithSeats
from pgs.domain.payouts import payout_id, payouts
from pgs.domain.seats import Seat
from pgs.storage.open_money import resolve_payout as resolved_row
from pgs.storage.transactions import Tx


async def ask_charge_now(seats: SeatsState, command: AskChargeNow, _: Envelope) -> AskedNow:
    """Ask settlement again for a stake, if the stake is still pending."""
    seat = await seats.seat(command.seat_id)
    if seat is None or seat.status != "pending":
        return AskedNow(was_open=False)
    seats.partner.settlement().tell(AskCharge(seat, again=True))
    return AskedNow(was_open=True)


async def ask_payouts_now(seats: SeatsState, command: AskPayoutsNow, _: Envelope) -> AskedNow:
    """If a match has open payouts, ask settlement for them again, also for those it declined."""
    record = await _unpaid(seats, command.match_id)
    if record is None:
        return AskedNow(was_open=False)
    for payout in payouts(record):
        seats.parts.settlements.asks.reopen(
            seats.partner_id, payout_id(command.match_id, payout.seat_id)
        )
    ask_for_payouts(seats, record, again=True)
    return AskedNow(was_open=True)


async def resolve_charge(
    seats: SeatsState, command: ResolveCharge, envelope: Envelope
) -> Seat | None:
    """Decide a pending stake as settlement would have, and return the seat.

    None if the seat is not pending.
    """
    seat = await seats.seat(command.seat_id)
    if seat is None or seat.status != "pending":
        return None
    seats.parts.settlements.asks.forget(seats.partner_id, seat.seat_id)
    await charge_answered(seats, ChargeAnswered(seat.seat_id, command.decision), envelope)
    return await seats.seat(command.seat_id)


async def resolve_payout(seats: SeatsState, command: ResolvePayout, _: Envelope) -> PayoutResolved:
    """Note an open payout as confirmed; return whether it was open.

    The match's money is recorded once its other payout, if it has one, is confirmed as well.
    """
    record = await _unpaid(seats, command.match_id)
    if record is None or command.seat_id not in {one.seat_id for one in payouts(record)}:
        return PayoutResolved(was_open=False)
    row = resolved_row(seats.partner_id, command.match_id, command.seat_id, seats.parts.clock.now())
    await seats.parts.database.writer.submit(Tx(seats.partner_id, (row,)))
    ask_for_payouts(seats, record, again=True)
    return PayoutResolved(was_open=True)


async def _unpaid(seats: SeatsState, match_id: str) -> MatchWithSeats | None:
    match = await seats.match(match_id)
    return await seats.with_seats(match) if match is not None and match.money == "due" else None
