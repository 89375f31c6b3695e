"""Taking a seat: the price is checked, the stake is charged, and the confirmed seat is placed.

The embedded settlement confirms every stake, so the seat is written and placed in one transaction.
A remote settlement is asked after the seat has been written, and the call waits for its answer.
"""

from typing import cast

import structlog

from pgs.actors.kernel.mail import LATER, Envelope, Later, Message
from pgs.actors.messages.seats import ChargeAnswered, Seated, StakeSeat
from pgs.actors.messages.settlement import AskCharge
from pgs.actors.seating.payouts import ask_for_payouts
from pgs.actors.seating.plan import Plan
from pgs.actors.seating.seats_state import SeatsState, WaitingCall
from pgs.domain import ids, pairing
from pgs.domain.errors import Refusal, refuse
from pgs.domain.matches import MatchWithSeats, close_alone
from pgs.domain.seats import Seat, SeatRequest, confirm, decline, is_same_request, new_seat
from pgs.domain.tiers import SeatPrice, price_seat
from pgs.storage.transactions import OutcomeUnknown

log = structlog.get_logger("pgs.settlement")


STAKES_TOGETHER = 100
"""Stakes of one partner that are decided together and committed in one transaction. Deciding so
many takes 2 to 5 ms, and other partners' calls have to wait meanwhile."""


async def stake_seat(
    seats: SeatsState, command: StakeSeat, envelope: Envelope
) -> Seated | Refusal | Later:
    """Take a seat and return it, or return the seat that the idempotency key took before.

    Stakes that wait behind this one are taken along. They are decided in order, each as if it had
    come alone.

    A lone stake is decided as if its key were new, and the key is looked for only if that fails.
    Nearly all keys are new, and the unique index of keys proves it when the seat is written.
    Looking for the key first took a fifth of the event loop's time for a seat.
    """
    others = _others(seats, command)
    if others:
        answer = await _take_together(seats, envelope, others)
        if answer is not None:
            return answer
    request, plan = command.request, seats.plan()
    try:
        decided = _decide_new(seats, plan, request)
        if isinstance(decided, Seat):
            await seats.write(plan)
    except OutcomeUnknown:
        raise
    except Exception:
        # `_replay_of` prefers the state of a seat in the plan to that in its row. Nothing of `plan`
        # was written, so pass an empty one.
        replay = await _replay_of(seats, seats.plan(), request, envelope)
        if replay is None:
            raise
        return replay
    if isinstance(decided, Seat):
        seats.follow(plan)
        return _conclude(seats, decided, envelope)
    replay = await _replay_of(seats, plan, request, envelope)
    return decided if replay is None else replay


def _others(seats: SeatsState, command: StakeSeat) -> list[Envelope]:
    """Remove from the mailbox the stakes that are decided together with `command`; return them.

    A second stake with the same key stays in the mailbox, because the seat that it repeats has to
    be written first.
    """
    if seats.stakes_alone:
        seats.stakes_alone -= 1
        return []
    if not seats.mailbox.holds_messages:
        return []
    keys = {command.request.idempotency_key}

    def is_wanted(message: Message) -> bool:
        if not isinstance(message, StakeSeat) or message.request.idempotency_key in keys:
            return False
        keys.add(message.request.idempotency_key)
        return True

    others: list[Envelope] = []
    while len(others) < STAKES_TOGETHER - 1:
        envelope = seats.mailbox.take_along(is_wanted)
        if envelope is None:
            break
        others.append(envelope)
    return others


async def _take_together(
    seats: SeatsState, first: Envelope, others: list[Envelope]
) -> Seated | Refusal | Later | None:
    """Answer `others` and return the answer to `first`; None if it has to be decided again.

    An error before the commit may be the fault of a single stake. The stakes without an answer are
    then decided one by one, so that only that one fails.
    """
    plan = seats.plan()
    answer: Seated | Refusal | Later | None = None
    planned: list[tuple[Envelope, Seat | Seated]] = []
    left = [first, *others]
    try:
        while left:
            decided = await _decide(seats, plan, left[0])
            if isinstance(decided, Seat | Seated):
                planned.append((left[0], decided))
            elif left[0] is first:
                answer = decided
            elif not isinstance(decided, Later):
                left[0].answer(decided)
            del left[0]
        is_written = await seats.write(plan)
    except OutcomeUnknown:
        raise
    except Exception:
        again = [*(envelope for envelope, _ in planned), *left]
        others = [envelope for envelope in again if envelope is not first]
        seats.mailbox.put_back(others)
        seats.stakes_alone = len(others)
        return answer
    if is_written:
        seats.follow(plan)
    for envelope, decided in planned:
        concluded = _conclude(seats, decided, envelope) if isinstance(decided, Seat) else decided
        if envelope is first:
            answer = concluded
        elif not isinstance(concluded, Later):
            envelope.answer(concluded)
    return answer


async def _decide(
    seats: SeatsState, plan: Plan, envelope: Envelope
) -> Seat | Seated | Refusal | Later:
    """Plan a new seat for a call, or return the answer to a call that takes no new seat."""
    request = cast(StakeSeat, envelope.message).request
    replay = await _replay_of(seats, plan, request, envelope)
    return _decide_new(seats, plan, request) if replay is None else replay


async def _replay_of(
    seats: SeatsState, plan: Plan, request: SeatRequest, envelope: Envelope
) -> Seated | Refusal | Later | None:
    """Return the answer to a call whose key has taken a seat before; None if its key is new."""
    known = await seats.seat_by_key(request.idempotency_key)
    if known is None:
        return None
    return _replay(seats, plan.latest.get(known.seat_id, known), request, envelope)


def _decide_new(seats: SeatsState, plan: Plan, request: SeatRequest) -> Seat | Refusal:
    """Plan a new seat for a request with a new key, or return why it cannot be taken.

    A seat whose stake is pending is saved as it is, because settlement has to be asked first.
    """
    price = find_price(seats, request.tier_id, request.game_id, request.sent_usd_cents)
    if isinstance(price, Refusal):
        return price
    seat = new_seat(
        request,
        price,
        partner_id=seats.partner_id,
        environment=seats.environment,
        seat_id=seats.new_id(ids.SEAT, plan),
        seq=plan.next_seq(),
        now=plan.now,
        settlement=seats.parts.settlements.side,
    )
    if seat.stake_status == "pending":
        return plan.save(None, seat)
    plan.charge(seat)
    return _place(seats, plan, None, seat)


def _conclude(seats: SeatsState, seat: Seat, envelope: Envelope) -> Seated | Later:
    """Return the answer to the call of a new seat; ask settlement first if it has to confirm."""
    if seat.stake_status == "pending":
        return _wait_for_charge(seats, seat, WaitingCall(envelope, replayed=False))
    return Seated(seat, replayed=False)


async def charge_answered(seats: SeatsState, message: ChargeAnswered, _: Envelope) -> None:
    """Record settlement's answer to a charge, and answer the calls that wait for it."""
    seat = await seats.seat(message.seat_id)
    if seat is not None and seat.status != "pending":
        _check_contradiction(seats, seat, message)
    elif seat is not None:
        if message.answer == "confirmed":
            seat = await _confirm(seats, seat)
        elif message.answer == "declined":
            seat = await _decline(seats, seat)
    unanswered = message.answer is None and seat is not None and seat.status == "pending"
    for call in seats.waiting_calls.pop(message.seat_id, ()):
        if seat is None or unanswered:
            call.envelope.answer(refuse("settlement_unavailable"))
        else:
            call.envelope.answer(Seated(seat, call.replayed))


def _check_contradiction(seats: SeatsState, seat: Seat, message: ChargeAnswered) -> None:
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
    seats: SeatsState, tier_id: str, game_id: str, sent_usd_cents: int | None
) -> SeatPrice | Refusal:
    """Return the price of a seat, or why it cannot be taken.

    Without `sent_usd_cents`, the partner accepts whatever a seat costs.
    """
    account = seats.active_account
    if account is None:
        return refuse("partner_inactive")
    catalogue = seats.parts.catalogue.published(seats.parts.system.now())
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
    seats: SeatsState, seat: Seat, request: SeatRequest, envelope: Envelope
) -> Seated | Refusal | Later:
    if not is_same_request(seat, request):
        return refuse("idempotency_key_conflict")
    if seat.status == "pending":
        return _wait_for_charge(seats, seat, WaitingCall(envelope, replayed=True))
    return Seated(seat, replayed=True)


def _wait_for_charge(seats: SeatsState, seat: Seat, call: WaitingCall) -> Later:
    seats.waiting_calls[seat.seat_id].append(call)
    asked_by = call.envelope.message
    request_id = asked_by.request_id if isinstance(asked_by, StakeSeat) else None
    seats.partner.settlement().tell(AskCharge(seat, request_id=request_id))
    seats.parts.deadlines.note(seat.due_at)
    return LATER


async def _confirm(seats: SeatsState, seat: Seat) -> Seat:
    """Commit the confirmation of a pending stake and return the new seat."""
    plan = seats.plan()
    confirmed = confirm(seat, plan.now)
    plan.charge(confirmed)
    end_reason = seat.closing or (None if seats.active_account else "account_inactive")
    if end_reason is None:
        placed = _place(seats, plan, seat, confirmed)
        await seats.commit(plan)
        return placed
    closed = close_alone(confirmed, seats.new_id(ids.MATCH, plan), end_reason, plan.now)
    plan.insert_match(closed.match)
    saved = plan.save(seat, closed.seats[0])
    await seats.commit(plan)
    ask_for_payouts(seats, MatchWithSeats(closed.match, (saved,)))
    return saved


async def _decline(seats: SeatsState, seat: Seat) -> Seat:
    plan = seats.plan()
    declined = decline(seat, plan.now)
    plan.save(seat, declined)
    await seats.commit(plan)
    return declined


def _place(seats: SeatsState, plan: Plan, was: Seat | None, seat: Seat) -> Seat:
    """Plan that a seat with a confirmed stake is paired or waits; return its new state."""
    if seats.environment == "live":
        return plan.save(was, seat)
    older = seats.lobby.oldest_opponent(seat, plan.now, plan.latest, plan.waiting.values())
    if older is None:
        return plan.save(was, seat)
    waited_s = plan.now - (older.confirmed_at or plan.now)
    explanation = pairing.explain_test(waited_s, begins=older.player_id)
    started = plan.start(older, seat, seats.new_id(ids.MATCH, plan), explanation)
    plan.save(older, started.seats[0])
    return plan.save(was, started.seats[1])
