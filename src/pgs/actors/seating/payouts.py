"""Asks settlement to pay what an ended match owes, and records the money once all of it is paid."""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import PaidOut
from pgs.actors.messages.settlement import PayOut
from pgs.actors.seating.seats_state import SeatsState
from pgs.domain.matches import MatchWithSeats
from pgs.domain.payouts import payout_id, payouts, record_money
from pgs.domain.seats import SettlementSide


def ask_for_payouts(seats: SeatsState, *ended: MatchWithSeats, again: bool = False) -> None:
    """Ask settlement to pay what ended matches owe. Call it after the commit of their ends.

    `again`: settlement was asked before.
    """
    for record in ended:
        seats.partner.settlement().tell(
            PayOut(
                seats.environment,
                record.match.match_id,
                payouts(record),
                side_of(record),
                again,
            )
        )


def side_of(record: MatchWithSeats) -> SettlementSide:
    """Return which settlement holds a match's stakes. It is the same one for all of its seats."""
    return record.seats[0].settlement


async def paid_out(seats: SeatsState, message: PaidOut, _: Envelope) -> None:
    """Record payouts, refunds and rake on the seats of a match, and book its settlement."""
    match = await seats.match(message.match_id)
    if match is None or match.money != "due":
        return
    was = await seats.with_seats(match)
    plan = seats.plan()
    recorded = plan.update_all(was, record_money(was, plan.now))
    plan.settle(recorded)
    await seats.commit(plan)
    if side_of(was) == "remote":
        names = (payout_id(match.match_id, seat.seat_id) for seat in was.seats)
        seats.parts.settlements.asks.forget(seats.partner_id, *names)
