"""What the account actor is asked and told: everything a partner manages, and what the platform does to it.

`by` is who acts: a member's uid, or `platform`. It is what the event log names. `pgs.actors.messages.all` hands all of this on.
"""

from typing import Any, Generic, TypeVar

import msgspec

from pgs.actors.kernel.mail import Command, Message
from pgs.domain.accounts import Account, ApiKey, Webhook
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.invites import Invite
from pgs.domain.licences import Step
from pgs.domain.members import Member
from pgs.domain.roles import AdminRule, Role

R = TypeVar("R", covariant=True)

AccountReply = Account | Refusal | BadRequest


class AccountCommand(Command[R], Generic[R], frozen=True, kw_only=True):
    """What changes an account.

    `if_revision`: the account's revision that the caller has seen; another one now is `partner_changed`. `rule`: the gates that `by` has
    passed on the way here. They are checked once more in the actor's own step, so that a member who was removed or demoted a moment ago
    changes nothing.
    """

    if_revision: int | None = None
    rule: AdminRule | None = None


class CreatePartner(Command[tuple[Account, str] | Refusal | BadRequest], frozen=True):
    """Open an account and invite its first admin; answers the account and the invite's id."""

    name: str
    admin_email: str


# --- keys -----------------------------------------------------------------------------------------------------------------------


class MintKey(AccountCommand[tuple[Account, str, str] | Refusal | BadRequest], frozen=True):
    """Make an API key; answers the account, the key's id and the key itself, which nothing keeps."""

    by: str
    environment: Environment
    label: str


class KeyRotated(msgspec.Struct, frozen=True):
    """The new key's record, the key itself, which nothing keeps, and the old key's record with the time at which it ends."""

    key: ApiKey
    text: str
    previous: ApiKey

    def __repr__(self) -> str:
        return f"KeyRotated(key={self.key!r}, text=<hidden>, previous={self.previous!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("key", self.key), ("previous", self.previous)]


class RotateKey(AccountCommand[KeyRotated | Refusal | BadRequest], frozen=True):
    """Make a key that follows an active one, which works for seven more days."""

    by: str
    key_id: str


class RevokeKey(AccountCommand[AccountReply], frozen=True):
    """Revoke a key at once. Revoking a revoked one changes nothing."""

    by: str
    key_id: str


# --- games, terms, prices, origins ------------------------------------------------------------------------------------------------


class ChangeLicence(AccountCommand[AccountReply], frozen=True):
    """Move a game's licence: the partner's own steps, and the platform's."""

    by: str
    game_id: str
    step: Step
    note: str | None = None


class AgreeTerms(AccountCommand[AccountReply], frozen=True):
    """Agree to the rake terms of a version that is on offer."""

    by: str
    version: int


class EndTerms(AccountCommand[AccountReply], frozen=True):
    """End the agreement in force, which only the platform does: no seat is taken until the partner agrees to what is on offer."""

    by: str


class SetPrices(AccountCommand[AccountReply], frozen=True):
    """Replace the price map of an environment: tier id to US cents."""

    by: str
    environment: Environment
    prices: dict[str, int]


class AddOrigin(AccountCommand[AccountReply], frozen=True):
    """Register a web origin. Adding one twice changes nothing."""

    by: str
    environment: Environment
    origin: str


class RemoveOrigin(AccountCommand[AccountReply], frozen=True):
    """Remove a web origin."""

    by: str
    environment: Environment
    origin: str


# --- webhooks ---------------------------------------------------------------------------------------------------------------------


class SaveWebhook(AccountCommand[tuple[Webhook, str | None] | Refusal | BadRequest], frozen=True):
    """Save a webhook's URL and switch it on; answers the endpoint and, when one was minted, the signing secret."""

    by: str
    environment: Environment
    url: str


class RotateWebhookSecret(AccountCommand[tuple[Webhook, str] | Refusal | BadRequest], frozen=True):
    """Mint a new signing secret, and change nothing else; answers the endpoint and the secret."""

    by: str
    environment: Environment


class DisableWebhook(AccountCommand[Webhook | Refusal | BadRequest], frozen=True):
    """Switch a webhook off. With `saved_seq`, only if its URL has not been saved anew since."""

    by: str
    environment: Environment
    saved_seq: int | None = None


# --- the account itself -----------------------------------------------------------------------------------------------------------


class SwitchAccount(AccountCommand[AccountReply], frozen=True):
    """Switch an account on or off. Whoever asks then sees to it that open seats and matches are closed."""

    by: str
    active: bool


class SetRate(AccountCommand[AccountReply], frozen=True):
    """Set a partner's burst and rate; None leaves one as it is."""

    by: str
    burst: int | None
    rate: int | None


class SetPin(AccountCommand[AccountReply], frozen=True):
    """Move the version on which an environment's calls are answered, to one that is served."""

    by: str
    environment: Environment
    version: int


class SetDomain(AccountCommand[AccountReply], frozen=True):
    """Set the admin domain, once. `email` is the caller's own verified address, which must lie in it."""

    by: str
    email: str
    domain: str


class StopMarked(msgspec.Struct, frozen=True):
    """An emergency stop is on disk: tokens of an earlier generation are dead, and what is open must now be closed."""

    account: Account
    environment: Environment
    generation: int
    at: int


class EmergencyStop(AccountCommand[StopMarked | Refusal | BadRequest], frozen=True):
    """Kill every session token of an environment and mark its open play for closing. `pgs.actors.seating.stopping` then closes it."""

    by: str
    environment: Environment


class StopFinished(AccountCommand[None], frozen=True):
    """Everything that was open at the emergency stop of that generation is closed: forget its mark. Changes nothing else."""

    environment: Environment
    generation: int


class AccountChangedInRows(Message, frozen=True):
    """The rows differ from what was published: something else wrote them."""


# --- people -----------------------------------------------------------------------------------------------------------------------


class CreateInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Invite somebody by their address, in a role no greater than the granter's own."""

    by: str
    email: str
    role: Role


class RevokeInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Revoke an invite that nobody has accepted."""

    by: str
    invite_id: str


class AcceptInvite(AccountCommand[Invite | Refusal | BadRequest], frozen=True):
    """Make a member of who signed in, `by`, with their verified address; answers the invite as accepted."""

    by: str
    email: str
    invite_id: str


class ChangeRole(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Give a member another role, no greater than the granter's own."""

    by: str
    uid: str
    role: Role


class RemoveMember(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Remove a member with their authenticator; answers who it was."""

    by: str
    uid: str


# --- authenticators ---------------------------------------------------------------------------------------------------------------


class Enrolment(msgspec.Struct, frozen=True):
    """A new authenticator's secret, shown once, as text and as the URI of a QR code. It waits for its first code."""

    secret: str
    otpauth_uri: str

    def __repr__(self) -> str:
        return "Enrolment(<hidden>)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


class EnrollTotp(AccountCommand[Enrolment | Refusal | BadRequest], frozen=True):
    """Begin a new authenticator for the caller. One that replaces another takes a fresh window; the other stays in force until then."""

    by: str


class SteppedUp(msgspec.Struct, frozen=True):
    """A code was right: the epoch seconds at which the open and the fresh window end."""

    until: int
    fresh_until: int


class VerifyTotp(AccountCommand[SteppedUp | Refusal | BadRequest], frozen=True):
    """Check the caller's code, and count it as wrong before looking at it."""

    by: str
    code: str

    def __repr__(self) -> str:
        return f"VerifyTotp(by={self.by!r}, code=<hidden>)"


class ResetFactor(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Drop the authenticator of a member who has lost it, which only the platform does; answers the member."""

    by: str
    uid: str
