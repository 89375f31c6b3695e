"""What the seats actor of a partner and environment is asked and told, and its replies."""

from typing import Literal

import msgspec

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.matches import MatchDecision, MatchWithSeats
from pgs.domain.seats import Seat, SeatRequest


class Seated(msgspec.Struct, frozen=True):
    """A seat as it now is. `replayed`: an earlier call with the same idempotency key took it."""

    seat: Seat
    replayed: bool


class Closed(msgspec.Struct, frozen=True):
    """How many seats or matches a command has ended."""

    count: int


class NextWave(msgspec.Struct, frozen=True):
    """When the pulse asks for the next wave, in seconds from now. None: the pulse ends."""

    after_s: float | None


class StakeSeat(Command[Seated | Refusal], frozen=True):
    """Take a paid seat, once for each idempotency key, and pair it.

    `request_id`: of the call, for the log.
    """

    request: SeatRequest
    request_id: str | None = None


class DecideMatch(Command[MatchWithSeats | Refusal | BadRequest], frozen=True):
    """End a running match with the caller's decision."""

    match_id: str
    outcome: Literal["ended", "no_contest"]
    winner_player_id: str | None
    end_reason: str


class CloseSeats(Command[Closed], frozen=True):
    """Of these seats, end those that wait, each in a match of its own, and count them.

    A seat whose stake is pending is marked: it ends as soon as its stake is confirmed.
    """

    seat_ids: tuple[str, ...]
    end_reason: str


class CloseMatches(Command[Closed], frozen=True):
    """Of these matches, end those that run, as no contest, and count them."""

    match_ids: tuple[str, ...]
    end_reason: str


class SeatDue(Message, frozen=True):
    """A seat's `due_at` has come."""

    seat_id: str


class MatchDue(Message, frozen=True):
    """A match's `due_at` has come."""

    match_id: str


class EndPlay(Message, frozen=True):
    """End this match. Its table sends the message again until the match has ended."""

    match_id: str
    decision: MatchDecision


class ChargeAnswered(Message, frozen=True):
    """Settlement's answer about a stake. None: no valid answer came in time."""

    seat_id: str
    answer: Literal["confirmed", "pending", "declined"] | None


class PaidOut(Message, frozen=True):
    """Settlement has confirmed everything that a match owes."""

    match_id: str


class AskChargeNow(Command[bool], frozen=True):
    """Ask settlement for a pending stake now. The reply is whether it was open."""

    seat_id: str


class AskPayoutsNow(Command[bool], frozen=True):
    """Ask settlement now for what a match owes. The reply is whether it was open."""

    match_id: str


class ResolveCharge(Command[Seat | None], frozen=True):
    """Decide a pending stake in settlement's place. The reply is None if it was not open."""

    seat_id: str
    decision: Literal["confirmed", "declined"]


class ResolvePayout(Command[bool], frozen=True):
    """Confirm a payout in settlement's place. The reply is whether it was open."""

    match_id: str
    seat_id: str


class Wave(Command[NextWave], frozen=True):
    """Pair the seats that wait in live. `pulse` is the `Pulse` that asks.

    With None the message only opens the actor, which then starts a pulse if it has seats to pair.
    """

    pulse: object
