"""Reads tiers and their locks, and builds the statements that write them."""

from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.tiers import Tier, TierCatalogue, TierRevision
from pgs.storage.reader import Query, Reader
from pgs.storage.terms import Terms
from pgs.storage.transactions import Stmt


async def read_catalogue(reader: Reader) -> TierCatalogue:
    """Return every tier with its revisions and locks, and the version of the terms on offer.

    All of it is as of the same moment. The version is 0 if no terms are on offer.
    """
    tier_rows, lock_rows, terms = await reader.together(
        Query("tiers.tiers"), Query("tiers.locks"), Query("terms.newest_terms")
    )
    revisions: dict[tuple[Environment, str], list[TierRevision]] = {}
    for environment, tier_id, *rest in tier_rows:
        revisions.setdefault((environment, tier_id), []).append(TierRevision(*rest))
    locks: dict[tuple[Environment, str], set[str]] = {}
    for environment, tier_id, game_id in lock_rows:
        locks.setdefault((environment, tier_id), set()).add(game_id)
    tiers: dict[Environment, dict[str, Tier]] = {environment: {} for environment in ENVIRONMENTS}
    for (environment, tier_id), history in revisions.items():
        tiers[environment][tier_id] = Tier(
            environment, tier_id, tuple(history), frozenset(locks.get((environment, tier_id), ()))
        )
    return TierCatalogue(tiers, Terms(*terms[0]).version if terms else 0)


def insert_revision(
    environment: Environment, tier_id: str, revision: TierRevision, at: int
) -> Stmt:
    """Return the statement that adds a revision of a tier."""
    return Stmt(
        "tiers.insert_revision",
        {
            "environment": environment,
            "tier_id": tier_id,
            "revision": revision.revision,
            "name": revision.name,
            "floor_usd_cents": revision.floor_usd_cents,
            "prize_usd_cents": revision.prize_usd_cents,
            "created_at": at,
        },
        1,
    )


def set_lock(environment: Environment, tier_id: str, game_id: str, *, locked: bool) -> Stmt:
    """Return the statement that locks a tier for a game, or unlocks it."""
    name = "tiers.insert_lock" if locked else "tiers.delete_lock"
    return Stmt(name, {"environment": environment, "tier_id": tier_id, "game_id": game_id}, 1)
