"""Taking a seat: the price is checked, the stake is charged, and the confirmed seat is placed.

The embedded settlement confirms every stake, so the seat is written and placed in one transaction.
A remote settlement is asked after the seat has been written, and the call waits for its answer.
"""

import msgspec
import structlog
import trio

from pgs.actors.kernel.mail import LATER, Envelope, Later
from pgs.actors.messages.seats import ChargeAnswered, Seated, StakeSeat
from pgs.actors.messages.settlement import AskCharge
from pgs.actors.seating.payouts import ask_for_payouts
from pgs.actors.seating.plan import Plan
from pgs.actors.seating.seating import Seating, WaitingCall
from pgs.domain import ids, pairing
from pgs.domain.errors import Refusal, refuse
from pgs.domain.matches import MatchWithSeats, close_alone
from pgs.domain.seats import Seat, SeatRequest, confirm, decline, is_same_request, new_seat
from pgs.domain.tiers import SeatPrice, price_seat

log = structlog.get_logger("pgs.settlement")


class Placed(msgspec.Struct, frozen=True):
    """A confirmed seat as planned. `closed`: the match in which it ended, if it was closed."""

    seat: Seat
    closed: MatchWithSeats | None = None


async def stake_seat(
    seats: Seating, command: StakeSeat, envelope: Envelope
) -> Seated | Refusal | Later:
    """Take a seat and return it, or return the seat that the idempotency key took before."""
    request = command.request
    known = await seats.seat_by_key(request.idempotency_key)
    if known is not None:
        return _replay(seats, known, request, envelope)
    price = find_price(seats, request.tier_id, request.game_id, request.sent_usd_cents)
    if isinstance(price, Refusal):
        return price
    plan = seats.plan()
    seat = _new_seat(seats, plan, request, price)
    if seat.settlement == "embedded":
        return Seated(await _confirm(seats, plan, None, seat), replayed=False)
    plan.save(None, seat)
    await seats.commit(plan)
    return _wait_for_charge(seats, seat, WaitingCall(envelope, replayed=False))


async def charge_answered(seats: Seating, message: ChargeAnswered, _: Envelope) -> None:
    """Record settlement's answer to a charge, and answer the calls that wait for it."""
    seat = await seats.seat(message.seat_id)
    if seat is not None and seat.status != "pending":
        _check_contradiction(seats, seat, message)
    elif seat is not None:
        if message.answer == "confirmed":
            seat = await _confirm(seats, seats.plan(), seat, seat)
        elif message.answer == "declined":
            seat = await _decline(seats, seat)
    unanswered = message.answer is None and seat is not None and seat.status == "pending"
    for call in seats.waiting_calls.pop(message.seat_id, ()):
        if seat is None or unanswered:
            call.envelope.answer(refuse("settlement_unavailable"))
        else:
            call.envelope.answer(Seated(seat, call.replayed))


def _check_contradiction(seats: Seating, seat: Seat, message: ChargeAnswered) -> None:
    """Report an answer that differs from what was decided before, by settlement or an operator."""
    declined = seat.stake_status == "declined"
    if message.answer == ("confirmed" if declined else "declined"):
        seats.parts.on_event("settlement_contradicted")
        log.error(
            "settlement_contradicted",
            partner_id=seat.partner_id,
            seat_id=seat.seat_id,
            decided="declined" if declined else "confirmed",
            answered=message.answer,
        )


def find_price(
    seats: Seating, tier_id: str, game_id: str, sent_usd_cents: int | None
) -> SeatPrice | Refusal:
    """Return the price of a seat, or why it cannot be taken.

    Without `sent_usd_cents`, the partner expects whatever a seat costs.
    """
    account = seats.active_account
    if account is None:
        return refuse("partner_inactive")
    catalogue = seats.parts.catalogue.published(trio.current_time())
    if catalogue is None:
        return refuse("settlement_unavailable")
    tier = catalogue.find(seats.environment, tier_id)
    if tier is None:
        return catalogue.unknown(seats.environment, tier_id)
    if tier.is_locked(game_id):
        return refuse("tier_locked")
    if account.agreed_terms_version is None:
        return refuse("rake_terms_not_agreed")
    price = account.prices[seats.environment].get(tier_id)
    sent = tier.entry_usd_cents(price) if sent_usd_cents is None else sent_usd_cents
    return price_seat(tier, price, sent)


def _replay(
    seats: Seating, seat: Seat, request: SeatRequest, envelope: Envelope
) -> Seated | Refusal | Later:
    if not is_same_request(seat, request):
        return refuse("idempotency_key_conflict")
    if seat.status == "pending":
        return _wait_for_charge(seats, seat, WaitingCall(envelope, replayed=True))
    return Seated(seat, replayed=True)


def _new_seat(seats: Seating, plan: Plan, request: SeatRequest, price: SeatPrice) -> Seat:
    return new_seat(
        request,
        price,
        partner_id=seats.partner_id,
        environment=seats.environment,
        seat_id=seats.parts.new_id(ids.SEAT),
        seq=plan.next_seq(),
        now=plan.now,
        settlement=seats.parts.settlements.side,
    )


def _wait_for_charge(seats: Seating, seat: Seat, call: WaitingCall) -> Later:
    seats.waiting_calls[seat.seat_id].append(call)
    asked_by = call.envelope.message
    request_id = asked_by.request_id if isinstance(asked_by, StakeSeat) else None
    seats.partner.settlement().tell(AskCharge(seat, request_id=request_id))
    seats.parts.deadlines.note(seat.due_at)
    return LATER


async def _confirm(seats: Seating, plan: Plan, was: Seat | None, seat: Seat) -> Seat:
    """Commit a confirmed stake and return the new seat. `was`: the seat's row, if it has one."""
    placed = _place(seats, plan, was, confirm(seat, plan.now))
    await seats.commit(plan)
    if placed.closed is not None:
        ask_for_payouts(seats, placed.closed)
    return placed.seat


async def _decline(seats: Seating, seat: Seat) -> Seat:
    plan = seats.plan()
    declined = decline(seat, plan.now)
    plan.save(seat, declined)
    await seats.commit(plan)
    return declined


def _place(seats: Seating, plan: Plan, was: Seat | None, seat: Seat) -> Placed:
    """Plan the next state of a seat whose stake is confirmed: closed, paired or waiting."""
    plan.charge(seat)
    end_reason = seat.closing or (None if seats.active_account else "account_inactive")
    if end_reason is not None:
        closed = close_alone(seat, seats.new_match_id(), end_reason, plan.now)
        plan.insert_match(closed.match)
        saved = plan.save(was, closed.seats[0])
        return Placed(saved, MatchWithSeats(closed.match, (saved,)))
    older = seats.lobby.oldest_opponent(seat, plan.now) if seats.environment == "test" else None
    if older is None:
        return Placed(plan.save(was, seat))
    waited_s = plan.now - (older.confirmed_at or plan.now)
    explanation = pairing.explain_test(waited_s, begins=older.player_id)
    started = plan.start(older, seat, seats.new_match_id(), explanation)
    plan.save(older, started.seats[0])
    return Placed(plan.save(was, started.seats[1]))
