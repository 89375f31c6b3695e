"""Commands to the account actor about members' authenticators."""

import msgspec

from pgs.actors.messages.account.command import AccountCommand
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.members import Member
from pgs.domain.secrets import HidesSecrets


class Enrolment(HidesSecrets, msgspec.Struct, frozen=True):
    """A new authenticator's secret, as text and as the URI of a QR code, shown once.

    The authenticator waits for its first code. `replaces_pending`: whether it replaces an earlier
    authenticator that was still waiting for its first code. No code of the earlier one is accepted
    any more.
    """

    SECRETS = frozenset({"secret", "otpauth_uri"})

    secret: str
    otpauth_uri: str
    replaces_pending: bool = False


class EnrollTotp(AccountCommand[Enrolment | Refusal | BadRequest], frozen=True):
    """Enrol a new authenticator for the caller.

    To replace one, the caller needs a fresh step-up window. The old authenticator stays in force
    until the first code of the new one is verified.
    """

    by: str


class SteppedUp(msgspec.Struct, frozen=True):
    """The code was right. The window ends at `until`, and is fresh until `fresh_until`."""

    until: int
    fresh_until: int


class VerifyTotp(HidesSecrets, AccountCommand[SteppedUp | Refusal | BadRequest], frozen=True):
    """Check the caller's code. The attempt is counted as wrong before the code is checked."""

    SECRETS = frozenset({"code"})

    by: str
    code: str


class ResetFactor(AccountCommand[Member | Refusal | BadRequest], frozen=True):
    """Delete the authenticator of a member who has lost it; the reply is the member.

    The platform and every other admin may do this.
    """

    by: str
    uid: str
