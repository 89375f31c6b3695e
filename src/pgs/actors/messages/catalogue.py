"""What the catalogue actor is asked."""

from pgs.actors.kernel.mail import Command
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal


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
