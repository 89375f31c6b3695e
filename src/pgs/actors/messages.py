"""Every command and event that actors exchange, grouped by who receives it. A command names the type of its answer."""

from typing import Literal

import msgspec

from pgs.actors.kernel import Command, Message
from pgs.actors.messages_account import (
    AcceptInvite,
    AccountChangedInRows,
    AccountCommand,
    AccountReply,
    AddOrigin,
    AgreeTerms,
    ChangeLicence,
    ChangeRole,
    CreateInvite,
    CreatePartner,
    DisableWebhook,
    EmergencyStop,
    EndTerms,
    EnrollTotp,
    Enrolment,
    KeyRotated,
    MintKey,
    RemoveMember,
    RemoveOrigin,
    ResetFactor,
    RevokeInvite,
    RevokeKey,
    RotateKey,
    RotateWebhookSecret,
    SaveWebhook,
    SetDomain,
    SetPin,
    SetPrices,
    SetRate,
    SteppedUp,
    StopFinished,
    StopMarked,
    SwitchAccount,
    VerifyTotp,
)
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.nudges import TryOutcome
from pgs.domain.seats import Match, Payout, Seat
from pgs.storage.attempts import Attempt

__all__ = [
    "PLATFORM",
    "AcceptInvite",
    "AccountChangedInRows",
    "AccountCommand",
    "AccountReply",
    "AddOrigin",
    "AgreeTerms",
    "AskCharge",
    "ChangeLicence",
    "ChangeRole",
    "ChargeAnswered",
    "CloseMatches",
    "CloseSeats",
    "CreateInvite",
    "CreatePartner",
    "DecideMatch",
    "DisableWebhook",
    "EmergencyStop",
    "EndTerms",
    "EndpointChanged",
    "EnrollTotp",
    "Enrolment",
    "KeyRotated",
    "LockTier",
    "MatchDue",
    "MatchRecord",
    "MintKey",
    "Nudge",
    "NudgeCut",
    "PaidOut",
    "PayOut",
    "PublishTerms",
    "RemoveMember",
    "RemoveOrigin",
    "ResetFactor",
    "RevokeInvite",
    "RevokeKey",
    "RotateKey",
    "RotateWebhookSecret",
    "SaveWebhook",
    "SeatDue",
    "Seated",
    "SendTest",
    "SetDomain",
    "SetPin",
    "SetPrices",
    "SetRate",
    "SetTier",
    "StakeSeat",
    "SteppedUp",
    "StopFinished",
    "StopMarked",
    "SwitchAccount",
    "TestDone",
    "TryDone",
    "VerifyTotp",
    "Wave",
]

PLATFORM = "platform"  # who acts when no member does: operators, deadlines, the service itself

# --- seats: a partner's seats and matches in one environment ---------------------------------------------------------------


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


# --- settlement: charges and payouts under way ------------------------------------------------------------------------------


class AskCharge(Message, frozen=True):
    """Ask for a seat's stake; asking again is harmless."""

    seat: Seat


class PayOut(Message, frozen=True):
    """Pay what a match owes; paying again is harmless."""

    environment: Environment
    match_id: str
    payouts: tuple[Payout, ...]


# --- courier: a webhook endpoint and the nudges on their way ----------------------------------------------------------------


class Nudge(Message, frozen=True):
    """A match has moved on: the partner's feed holds something new."""

    match_id: str


class TryDone(Command[None], frozen=True):
    """Log what one try at delivering a nudge came to. `last`: no other follows; `test`: it was a test event."""

    nudge_id: str
    match_id: str | None
    number: int
    tried_at: int
    outcome: TryOutcome
    delivered: bool
    last: bool
    test: bool = False


class NudgeCut(Command[None], frozen=True):
    """Let go of a nudge that ended before its last try."""

    nudge_id: str


class EndpointChanged(Message, frozen=True):
    """The endpoint, or whether its account is on, was changed in rows."""


class SendTest(Command[Attempt | Refusal], frozen=True):
    """Send one test event; answers the attempt. `if_revision`: the account's, as for whatever changes the account."""

    if_revision: int | None = None


class TestDone(Command[Attempt], frozen=True):
    """Log what a test event came to; answers the attempt."""

    __test__ = False  # no test case, whatever its name begins with

    done: TryDone


# --- catalogue: the platform's tiers and terms -------------------------------------------------------------------------------


class SetTier(Command[Refusal | BadRequest | int], frozen=True):
    """Make a revision of a tier, or its first; answers the revision. Equal numbers make none."""

    environment: Environment
    tier_id: str
    name: str | None
    floor_usd_cents: int
    prize_usd_cents: int


class LockTier(Command[Refusal | bool], frozen=True):
    """Lock a tier for a game, or unlock it; answers whether that changed anything."""

    environment: Environment
    tier_id: str
    game_id: str
    locked: bool


class PublishTerms(Command[BadRequest | int], frozen=True):
    """Offer new rake terms; answers their version."""

    text: str
