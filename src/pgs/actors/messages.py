"""Every command and event that actors exchange, grouped by who receives it. A command names the type of its answer."""

from typing import Literal

import msgspec

from pgs.actors.kernel import Command, Message
from pgs.domain.accounts import Account, Webhook
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.licences import Step
from pgs.domain.nudges import TryOutcome
from pgs.domain.seats import Match, Payout, Seat
from pgs.storage.attempts import Attempt

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
    """Send one test event; answers the attempt."""


class TestDone(Command[Attempt], frozen=True):
    """Log what a test event came to; answers the attempt."""

    __test__ = False  # no test case, whatever its name begins with

    done: TryDone


# --- account: everything a partner manages -----------------------------------------------------------------------------------


AccountReply = Account | Refusal | BadRequest


class CreatePartner(Command[tuple[Account, str] | Refusal | BadRequest], frozen=True):
    """Open an account and invite its first admin; answers the account and the invite's id."""

    name: str
    admin_email: str


class MintKey(Command[tuple[Account, str, str] | Refusal | BadRequest], frozen=True):
    """Make an API key; answers the account, the key's id and the key itself, which nothing keeps."""

    by: str
    environment: Environment
    label: str


class RevokeKey(Command[AccountReply], frozen=True):
    """Revoke a key at once. Revoking a revoked one changes nothing."""

    by: str
    key_id: str


class ChangeLicence(Command[AccountReply], frozen=True):
    """Move a game's licence: the partner's own steps, and the platform's."""

    by: str
    game_id: str
    step: Step
    note: str | None = None


class AgreeTerms(Command[AccountReply], frozen=True):
    """Agree to the rake terms of a version that is on offer."""

    by: str
    version: int


class SetPrices(Command[AccountReply], frozen=True):
    """Replace the price map of an environment: tier id to US cents."""

    by: str
    environment: Environment
    prices: dict[str, int]


class AddOrigin(Command[AccountReply], frozen=True):
    """Register a web origin. Adding one twice changes nothing."""

    by: str
    environment: Environment
    origin: str


class RemoveOrigin(Command[AccountReply], frozen=True):
    """Remove a web origin."""

    by: str
    environment: Environment
    origin: str


class SaveWebhook(Command[tuple[Webhook, str | None] | Refusal | BadRequest], frozen=True):
    """Save a webhook's URL and switch it on; answers the endpoint and, when one was minted, the signing secret."""

    by: str
    environment: Environment
    url: str


class RotateWebhookSecret(Command[tuple[Webhook, str] | Refusal | BadRequest], frozen=True):
    """Mint a new signing secret, and change nothing else; answers the endpoint and the secret."""

    by: str
    environment: Environment


class DisableWebhook(Command[Webhook | Refusal | BadRequest], frozen=True):
    """Switch a webhook off. With `saved_seq`, only if its URL has not been saved anew since."""

    by: str
    environment: Environment
    saved_seq: int | None = None


class SwitchAccount(Command[AccountReply], frozen=True):
    """Switch an account on or off. Whoever asks then sees to it that open seats and matches are closed."""

    by: str
    active: bool


class SetRate(Command[AccountReply], frozen=True):
    """Set a partner's burst and rate; None leaves one as it is."""

    by: str
    burst: int | None
    rate: int | None


class AccountChangedInRows(Message, frozen=True):
    """The rows differ from what was published: something else wrote them."""


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
