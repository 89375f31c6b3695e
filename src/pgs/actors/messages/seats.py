"""Messages to the seats actor of one partner and environment, and its replies."""

from typing import Literal

import msgspec

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.matches import MatchDecision, MatchWithSeats
from pgs.domain.seats import EndReason, Seat, SeatRequest


class Seated(msgspec.Struct, frozen=True):
    """A seat in its current state. `replayed`: an earlier call with the same key took the seat."""

    seat: Seat
    replayed: bool


class Closed(msgspec.Struct, frozen=True):
    """How many seats or matches a command has ended."""

    count: int


class FinalDay(msgspec.Struct, frozen=True):
    """The newest final day. The figures of this day and all earlier days never change again."""

    day: int


class NextWave(msgspec.Struct, frozen=True):
    """The reply to a `Wave`. `after_s`: seconds until the `Pulse` must send another `Wave`.

    `after_s` is 0 if pairs of the same wave are left to commit, and None if the `Pulse` must end.
    """

    after_s: float | None


class AskedNow(msgspec.Struct, frozen=True):
    """Whether the charge or payouts were open. Settlement is asked only if they were."""

    was_open: bool


class PayoutResolved(msgspec.Struct, frozen=True):
    """Whether the payout was open. If it was not, nothing has changed."""

    was_open: bool


class StakeSeat(Command[Seated | Refusal], frozen=True):
    """Take a paid seat, once for each idempotency key.

    `request_id`: the call's id, for the log.
    """

    request: SeatRequest
    request_id: str | None = None


class SeatedTogether(msgspec.Struct, frozen=True):
    """The match of two seats that were taken in one step, and what each of them costs."""

    match_id: str
    stake_usd_cents: int


class SeatTogether(Command[SeatedTogether | Refusal], frozen=True):
    """Take a seat for each of two players, who play each other. Send this only in test.

    `sent_usd_cents`: the stake sent for each seat, which `price_seat` judges; None accepts whatever
    a seat costs. The idempotency keys of the seats begin with `name`, which must be new.
    """

    player_ids: tuple[str, str]
    game_id: str
    tier_id: str
    sent_usd_cents: int | None
    name: str


class DecideMatch(Command[MatchWithSeats | Refusal | BadRequest], frozen=True):
    """End a running match with the caller's decision."""

    match_id: str
    outcome: Literal["ended", "no_contest"]
    winner_player_id: str | None
    end_reason: EndReason


class CloseSeats(Command[Closed], frozen=True):
    """End the given seats that still wait, each in a match of its own, and count them.

    A seat whose stake is pending is marked: it ends as soon as its stake is confirmed.
    """

    seat_ids: tuple[str, ...]
    end_reason: EndReason


class CancelSeat(Command[Seat | Refusal], frozen=True):
    """End a waiting seat because its partner cancels it.

    If the seat is cancelled already, the reply is the seat.
    """

    seat_id: str


class CloseMatches(Command[Closed], frozen=True):
    """End the given matches that still run, as no contest, and count them."""

    match_ids: tuple[str, ...]
    end_reason: EndReason


class FinaliseDays(Command[FinalDay], frozen=True):
    """Make every day final that can be made final. The reply has the last final day."""


class SeatDue(Message, frozen=True):
    """A seat's `due_at` has come."""

    seat_id: str


class MatchDue(Message, frozen=True):
    """A match's `due_at` has come."""

    match_id: str


class EndPlay(Message, frozen=True):
    """End a match as its table has decided. The table repeats this until the match has ended."""

    match_id: str
    decision: MatchDecision


class ChargeAnswered(Message, frozen=True):
    """Settlement's answer about a stake.

    None: settlement was not asked, or gave no valid answer in time.
    """

    seat_id: str
    answer: Literal["confirmed", "pending", "declined"] | None


class PaidOut(Message, frozen=True):
    """Settlement has confirmed everything that a match owes."""

    match_id: str


class AskChargeNow(Command[AskedNow], frozen=True):
    """Ask settlement for a pending stake now."""

    seat_id: str


class AskPayoutsNow(Command[AskedNow], frozen=True):
    """Ask settlement now for what a match owes."""

    match_id: str


class ResolveCharge(Command[Seat | None], frozen=True):
    """Decide a pending stake in settlement's place.

    The reply is the seat, or None if its stake is not pending.
    """

    seat_id: str
    decision: Literal["confirmed", "declined"]


class ResolvePayout(Command[PayoutResolved], frozen=True):
    """Confirm a payout in settlement's place."""

    match_id: str
    seat_id: str


class Wave(Command[NextWave], frozen=True):
    """Pair the seats that wait in live.

    `pulse`: the `Pulse` that sends the command. If it is None, the command pairs nothing: it only
    opens the actor, which starts a `Pulse` if it has seats to pair.
    """

    pulse: object
