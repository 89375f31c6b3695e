"""The money of an ended match: asks settlement to pay, and records its confirmation."""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import PaidOut
from pgs.actors.messages.settlement import PayOut
from pgs.actors.seating.seating import Seating
from pgs.domain import ledger
from pgs.domain.matches import MatchWithSeats
from pgs.domain.payouts import payouts, record_money


def ask_for_payouts(seats: Seating, *ended: MatchWithSeats) -> None:
    """Ask settlement to pay what ended matches owe. Call it after the commit of their ends."""
    for record in ended:
        seats.partner.settlement().tell(
            PayOut(seats.environment, record.match.match_id, payouts(record))
        )


async def paid_out(seats: Seating, message: PaidOut, _: Envelope) -> None:
    """Record payouts, refunds and rake on the seats of a match, and book its settlement."""
    match = await seats.match(message.match_id)
    if match is None or match.money != "due":
        return
    was = await seats.with_seats(match)
    plan = seats.plan()
    recorded = plan.update_all(was, record_money(was, plan.now))
    plan.book(ledger.settlement(match.match_id, recorded.seats))
    await seats.commit(plan)
