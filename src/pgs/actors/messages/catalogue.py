"""Commands to the catalogue actor, and its replies."""

import msgspec

from pgs.actors.kernel.mail import Command
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal


class TierSet(msgspec.Struct, frozen=True):
    """The tier's current revision, which is the old one if nothing has changed."""

    revision: int


class SetTier(Command[TierSet | BadRequest], frozen=True):
    """Make a tier, or a new revision of a tier if its name or numbers change.

    `name` None keeps the tier's name.
    """

    environment: Environment
    tier_id: str
    name: str | None
    floor_usd_cents: int
    prize_usd_cents: int


class TierLocked(msgspec.Struct, frozen=True):
    """The tier is locked or unlocked as asked. `changed`: whether the command changed it."""

    changed: bool


class LockTier(Command[TierLocked | Refusal], frozen=True):
    """Lock a tier for a game, or unlock it."""

    environment: Environment
    tier_id: str
    game_id: str
    locked: bool


class TermsPublished(msgspec.Struct, frozen=True):
    """The version of the new rake terms."""

    version: int


class PublishTerms(Command[TermsPublished | BadRequest], frozen=True):
    """Offer new rake terms."""

    text: str
