"""What happens when a seat or a match falls due."""

import msgspec

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import MatchDue, SeatDue
from pgs.actors.messages.settlement import AskCharge
from pgs.actors.messages.table import LookAgain
from pgs.actors.seating.ending import close_seat, end_match
from pgs.actors.seating.payouts import ask_for_payouts, side_of
from pgs.actors.seating.seats_state import SeatsState
from pgs.domain.matches import Match, MatchDecision, MatchWithSeats
from pgs.domain.seats import EndReason, Seat, SettlementSide, is_due
from pgs.domain.settlement_retries import retry_at


async def seat_due(seats: SeatsState, message: SeatDue, _: Envelope) -> None:
    """Close a seat that found no opponent, or ask again for a stake that is pending."""
    seat = await seats.seat(message.seat_id)
    if seat is None or not is_due(seat.due_at, seats.parts.clock.now()):
        return
    if seat.status == "waiting":
        await close_seat(seats, seat, "no_opponent")
    elif seat.status == "pending":
        await _ask_for_charge_again(seats, seat)


async def match_due(seats: SeatsState, message: MatchDue, _: Envelope) -> None:
    """Act on a match whose `due_at` has come.

    A running match is ended, or its table is told to look at the clocks. For an ended match, the
    payouts are asked for again.
    """
    match = await seats.match(message.match_id)
    if match is None or not is_due(match.due_at, seats.parts.clock.now()):
        return
    if match.status == "started":
        await _end_if_nobody_came(seats, match)
    else:
        await _ask_for_payouts_again(seats, await seats.with_seats(match))


async def _ask_for_charge_again(seats: SeatsState, seat: Seat) -> None:
    plan = seats.plan()
    due_at = _ask_next_at(seats, seat.settlement, seat.seated_at, plan.now)
    plan.save(seat, msgspec.structs.replace(seat, due_at=due_at))
    await seats.commit(plan)
    seats.partner.settlement().tell(AskCharge(seat, again=True))


async def _end_if_nobody_came(seats: SeatsState, match: Match) -> None:
    """End a match to which nobody has come or whose game is not installed.

    Otherwise tell the match's table to look at its clocks.
    """
    installed = match.game_id in seats.parts.games
    if installed and await seats.has_attendance(match):
        seats.partner.table(match.match_id).tell(LookAgain())
        return
    end_reason: EndReason = "both_absent" if installed else "platform_void"
    record = await seats.with_seats(match)
    await end_match(seats, record, MatchDecision("no_contest", None, end_reason))


async def _ask_for_payouts_again(seats: SeatsState, record: MatchWithSeats) -> None:
    plan = seats.plan()
    since = record.match.ended_at or plan.now
    due_at = _ask_next_at(seats, side_of(record), since, plan.now)
    plan.update_match(record.match, msgspec.structs.replace(record.match, due_at=due_at))
    await seats.commit(plan)
    ask_for_payouts(seats, record, again=True)


def _ask_next_at(seats: SeatsState, side: SettlementSide, since: int, now: int) -> int:
    """Return when to ask again if asking now brings no decision."""
    lot = seats.parts.rng.bytes(1)[0]
    return max(retry_at(since, now, lot), seats.parts.settlements.not_before(side, now))
