"""Tiers and rake terms: when a change counts, and a write past the catalogue actor."""

from pathlib import Path

from trio.testing import MockClock

from pgs.actors.messages.catalogue import (
    LockTier,
    PublishTerms,
    SetTier,
    TermsPublished,
    TierLocked,
    TierSet,
)
from pgs.domain.tiers import TierRevision
from pgs.storage import terms, tiers
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ready_core, until


async def test_a_tier_set_by_its_actor_counts_at_once_and_one_written_past_it_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 500, 900)
        assert (await s.seat("alice", "g", 500, tier="gold")).stake_usd_cents == 500
        await s.write_without_the_actors(
            tiers.insert_revision("test", "gold", TierRevision(2, "Gold", 600, 900), 0)
        )
        await until(59.9)
        assert (await s.seat("alice", "g2", 600, tier="gold")).stake_usd_cents == 500
        await until(60)
        assert (await s.seat("alice", "g3", 600, tier="gold")).stake_usd_cents == 600


async def test_a_tier_written_past_its_actor_makes_the_next_command_decide_anew(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.write_without_the_actors(
            tiers.insert_revision("test", "bronze", TierRevision(2, "Bronze", 120, PRIZE), 0)
        )
        assert await s.core.directory.catalogue().ask(
            SetTier("test", "bronze", None, FLOOR, 150)
        ) == TierSet(3)
        await s.write_without_the_actors(tiers.set_lock("test", "bronze", GAME, locked=True))
        assert await s.core.directory.catalogue().ask(
            LockTier("test", "bronze", GAME, True)
        ) == TierLocked(changed=False)
        await s.write_without_the_actors(terms.insert_terms(2, "Other terms", 0))
        assert await s.core.directory.catalogue().ask(PublishTerms("New terms")) == TermsPublished(
            3
        )
