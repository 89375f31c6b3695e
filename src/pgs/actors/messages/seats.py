"""What the seats actor of a partner and environment is asked and told."""

from typing import Literal

import msgspec

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.seats import Match, Seat


class Seated(msgspec.Struct, frozen=True):
    """A seat as it now is. `replayed`: it had been taken by an earlier call with the same idempotency key."""

    seat: Seat
    replayed: bool


class MatchRecord(msgspec.Struct, frozen=True):
    """A match with its seats, the older first."""

    match: Match
    seats: tuple[Seat, ...]


class StakeSeat(Command[Seated | Refusal], frozen=True):
    """Take a paid seat, once for each idempotency key, and pair it."""

    player_id: str
    game_id: str
    tier_id: str
    sent_usd_cents: int
    idempotency_key: str
    partner_ref: str | None


class DecideMatch(Command[MatchRecord | Refusal | BadRequest], frozen=True):
    """End a running match outright."""

    match_id: str
    outcome: Literal["ended", "no_contest"]
    winner_player_id: str | None
    end_reason: str


class CloseSeats(Command[int], frozen=True):
    """End those of the seats that wait, each in a match of its own; mark those whose stake is pending. Answers how many."""

    seat_ids: tuple[str, ...]
    end_reason: str


class CloseMatches(Command[int], frozen=True):
    """End those of the matches that run, as no contest. Answers how many."""

    match_ids: tuple[str, ...]
    end_reason: str


class SeatDue(Message, frozen=True):
    """A seat's `due_at` has come."""

    seat_id: str


class MatchDue(Message, frozen=True):
    """A match's `due_at` has come."""

    match_id: str


class ChargeAnswered(Message, frozen=True):
    """What settlement says of a stake; None when no published answer came in time."""

    seat_id: str
    answer: Literal["confirmed", "pending", "declined"] | None


class PaidOut(Message, frozen=True):
    """Settlement has confirmed everything that a match owes."""

    match_id: str


class Wave(Command[float | None], frozen=True):
    """Pair who waits in live. Answers in how many seconds to ask again; None when there is no need to, or another pulse does."""

    pulse: object
