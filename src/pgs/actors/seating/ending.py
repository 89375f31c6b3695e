"""Ending matches and closing seats: by a decision, at a table, or because play was switched off."""

from typing import Final

import msgspec

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.seats import (
    CancelSeat,
    Closed,
    CloseMatches,
    CloseSeats,
    DecideMatch,
    EndPlay,
)
from pgs.actors.messages.table import LookAgain
from pgs.actors.seating.payouts import ask_for_payouts
from pgs.actors.seating.plan import Plan
from pgs.actors.seating.seats_state import SeatsState
from pgs.domain import ids, matches
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.matches import MatchDecision, MatchWithSeats, same_decision
from pgs.domain.ratings import after_match
from pgs.domain.seats import EndReason, Seat

CANCELLED: Final = "cancelled"
"""The end reason of a seat that its partner has cancelled."""

NOT_A_PLAYER = BadRequest("winnerPlayerId must name a player of this match, or be null for a draw")


async def decide_match(
    seats: SeatsState, command: DecideMatch, _: Envelope
) -> MatchWithSeats | Refusal | BadRequest:
    """Decide a match and return it. Repeating the same decision returns the match unchanged."""
    match = await seats.match(command.match_id)
    if match is None:
        return refuse("match_not_found")
    record = await seats.with_seats(match)
    winner = command.winner_player_id
    if winner is not None and not record.has_player(winner):
        return NOT_A_PLAYER
    decision = MatchDecision(command.outcome, winner, command.end_reason)
    if match.status == "started":
        return await end_match(seats, record, decision)
    return record if same_decision(match, decision) else refuse("match_already_decided")


async def end_play(seats: SeatsState, message: EndPlay, _: Envelope) -> None:
    """End a match as its table has decided, unless it has ended already."""
    match = await seats.match(message.match_id)
    if match is None or match.status != "started":
        seats.partner.table(message.match_id).tell(LookAgain())
        return
    await end_match(seats, await seats.with_seats(match), message.decision)


async def end_match(
    seats: SeatsState, record: MatchWithSeats, decision: MatchDecision
) -> MatchWithSeats:
    """Commit a running match's end, ask for its payouts, and return the ended match."""
    plan = seats.plan()
    ended = await _plan_end(seats, plan, record, decision)
    await seats.commit(plan)
    ask_for_payouts(seats, ended)
    return ended


async def close_matches(seats: SeatsState, command: CloseMatches, _: Envelope) -> Closed:
    """End the given matches that still run, as no contest, in one transaction."""
    plan = seats.plan()
    decision = MatchDecision("no_contest", None, command.end_reason)
    closed = []
    for match_id in command.match_ids:
        match = await seats.match(match_id)
        if match is not None and match.status == "started":
            record = await seats.with_seats(match)
            closed.append(await _plan_end(seats, plan, record, decision))
    await seats.commit(plan)
    ask_for_payouts(seats, *closed)
    return Closed(len(closed))


async def close_seats(seats: SeatsState, command: CloseSeats, _: Envelope) -> Closed:
    """Close the given seats that still wait, in one transaction.

    Seats whose stake is pending are marked, to be closed when the stake is confirmed.
    """
    plan = seats.plan()
    closed = []
    for seat_id in command.seat_ids:
        seat = await seats.seat(seat_id)
        if seat is None:
            continue
        if seat.status == "waiting":
            closed.append(_plan_closing(seats, plan, seat, command.end_reason))
        elif seat.status == "pending" and seat.closing is None:
            plan.save(seat, msgspec.structs.replace(seat, closing=command.end_reason))
    await seats.commit(plan)
    ask_for_payouts(seats, *closed)
    return Closed(len(closed))


async def cancel_seat(seats: SeatsState, command: CancelSeat, _: Envelope) -> Seat | Refusal:
    """Cancel a waiting seat and return it, or return why it cannot be cancelled."""
    seat = await seats.seat(command.seat_id)
    if seat is None:
        return refuse("seat_not_found")
    if seat.end_reason == CANCELLED:
        return seat
    if seat.status != "waiting":
        return refuse("seat_not_waiting", status=seat.status)
    return await close_seat(seats, seat, CANCELLED)


async def close_seat(seats: SeatsState, seat: Seat, end_reason: EndReason) -> Seat:
    """End a waiting seat in a match of its own, and ask for its refund. Return the seat."""
    plan = seats.plan()
    closed = _plan_closing(seats, plan, seat, end_reason)
    await seats.commit(plan)
    ask_for_payouts(seats, closed)
    return closed.seats[0]


def _plan_closing(
    seats: SeatsState, plan: Plan, seat: Seat, end_reason: EndReason
) -> MatchWithSeats:
    closed = matches.close_alone(seat, seats.new_id(ids.MATCH, plan), end_reason, plan.now)
    plan.insert_match(closed.match)
    return MatchWithSeats(closed.match, (plan.save(seat, closed.seats[0]),))


async def _plan_end(
    seats: SeatsState, plan: Plan, record: MatchWithSeats, decision: MatchDecision
) -> MatchWithSeats:
    ended = plan.update_all(record, matches.end(record, decision, plan.now))
    if seats.environment == "live" and decision.outcome == "ended":
        await _plan_ratings(seats, plan, ended)
    return ended


async def _plan_ratings(seats: SeatsState, plan: Plan, ended: MatchWithSeats) -> None:
    """Plan the new ratings of the players of a match that ended with a result."""
    one, two = ended.seats
    if one.result is None:
        return
    game_id, players = one.game_id, (one.player_id, two.player_id)
    before = (
        await seats.rating(game_id, one.player_id),
        await seats.rating(game_id, two.player_id),
    )
    after = after_match(players, before, one.result)
    for player_id, was, rating in zip(players, before, after, strict=True):
        plan.rate(game_id, player_id, was, rating)
