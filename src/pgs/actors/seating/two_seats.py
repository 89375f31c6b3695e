"""Seating two test players against each other in one step.

Both seats are written in the transaction that starts their match. Neither of them ever waits, so
neither is paired with another player's waiting seat. The embedded settlement takes the stakes, even
if the settings name a settlement server, because a server could confirm one stake and decline the
other.
"""

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import SeatedTogether, SeatTogether
from pgs.actors.seating.plan import Plan
from pgs.actors.seating.seats_state import SeatsState
from pgs.actors.seating.staking import find_price
from pgs.domain import ids, pairing
from pgs.domain.errors import Refusal
from pgs.domain.seats import Seat, SeatRequest, new_seat
from pgs.domain.tiers import SeatPrice


async def seat_together(
    seats: SeatsState, command: SeatTogether, _: Envelope
) -> SeatedTogether | Refusal:
    """Take two seats and return their match, or why a seat is refused."""
    price = find_price(seats, command.tier_id, command.game_id, command.sent_usd_cents)
    if isinstance(price, Refusal):
        return price
    plan = seats.plan()
    older, newer = (_taken(seats, plan, command, player, price) for player in command.player_ids)
    explanation = pairing.explain_together(begins=older.player_id)
    started = plan.start(older, newer, seats.new_id(ids.MATCH, plan), explanation)
    for seat in started.seats:
        plan.save(None, seat)
    await seats.commit(plan)
    return SeatedTogether(started.match.match_id, price.stake_usd_cents)


def _taken(
    seats: SeatsState, plan: Plan, command: SeatTogether, player_id: str, price: SeatPrice
) -> Seat:
    """Plan the charge of a new seat, and return the seat with its stake confirmed."""
    sent = command.sent_usd_cents
    request = SeatRequest(
        player_id=player_id,
        game_id=command.game_id,
        tier_id=command.tier_id,
        sent_usd_cents=price.stake_usd_cents if sent is None else sent,
        idempotency_key=f"{command.name}:{player_id}",
        partner_ref=None,
    )
    seat = new_seat(
        request,
        price,
        partner_id=seats.partner_id,
        environment=seats.environment,
        seat_id=seats.new_id(ids.SEAT, plan),
        seq=plan.next_seq(),
        now=plan.now,
        settlement="embedded",
    )
    plan.charge(seat)
    return seat
