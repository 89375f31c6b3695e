"""Commands to the account actor: open an account, switch it on or off, stop an environment."""

import msgspec

from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.command import AccountCommand, AccountReply
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal


class PartnerCreated(msgspec.Struct, frozen=True):
    """The new account, and the id of the invite for its first admin."""

    account: Account
    invite_id: str


class CreatePartner(Command[PartnerCreated | Refusal | BadRequest], frozen=True):
    """Open an account and invite its first admin."""

    name: str
    admin_email: str


class SwitchAccount(AccountCommand[AccountReply], frozen=True):
    """Switch an account on or off. After switching it off, the caller must close its open play."""

    by: str
    active: bool


class StopMarked(msgspec.Struct, frozen=True):
    """An emergency stop is on disk.

    Session tokens of an earlier generation are invalid. The caller must now close all open play.
    """

    account: Account
    environment: Environment
    generation: int
    at: int


class EmergencyStop(AccountCommand[StopMarked | Refusal | BadRequest], frozen=True):
    """Invalidate every session token of an environment, and mark its open play for closing.

    `pgs.actors.seating.emergency_stop` then closes that play.
    """

    by: str
    environment: Environment


class StopFinished(Command[None], frozen=True):
    """Delete the mark of an emergency stop, because all play that was open at the stop is closed.

    `generation` identifies the stop. Nothing else changes.
    """

    environment: Environment
    generation: int
