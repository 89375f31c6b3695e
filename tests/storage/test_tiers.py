"""Tiers, locks and terms are stored in rows and read back."""

from pgs.domain.tiers import Tier, TierRevision
from pgs.storage import tiers as rows
from pgs.storage.database import Database
from pgs.storage.terms import insert_terms
from pgs.storage.transactions import Outcome, Stmt, Tx


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    return await database.writer.submit(Tx("platform", stmts))


async def test_a_new_database_offers_the_first_terms_and_no_tier(database: Database) -> None:
    catalogue = await rows.read_catalogue(database.reader)
    assert (catalogue.tiers, catalogue.offered_terms_version) == ({"test": {}, "live": {}}, 1)


async def test_a_catalogue_has_the_locks_and_every_revision_in_order(database: Database) -> None:
    first, second, other = (
        TierRevision(1, "Bronze", 100, 180),
        TierRevision(2, "Bronze", 110, 190),
        TierRevision(1, "Gold", 1, 1),
    )
    await commit(
        database,
        rows.insert_revision("test", "bronze", second, 9),
        rows.insert_revision("test", "bronze", first, 8),
        rows.insert_revision("live", "gold", other, 8),
        rows.set_lock("test", "bronze", "chess", locked=True),
        rows.set_lock("test", "bronze", "reversi", locked=True),
    )
    assert (await rows.read_catalogue(database.reader)).tiers == {
        "test": {
            "bronze": Tier("test", "bronze", (first, second), frozenset({"chess", "reversi"}))
        },
        "live": {"gold": Tier("live", "gold", (other,))},
    }
    assert (
        await commit(database, rows.set_lock("test", "bronze", "chess", locked=False))
        is Outcome.COMMITTED
    )
    assert (await rows.read_catalogue(database.reader)).tiers["test"]["bronze"].locked_games == {
        "reversi"
    }


async def test_adding_an_existing_row_or_removing_a_missing_one_conflicts(
    database: Database,
) -> None:
    revision = TierRevision(1, "Bronze", 100, 180)
    await commit(
        database,
        rows.insert_revision("test", "bronze", revision, 1),
        rows.set_lock("test", "bronze", "chess", locked=True),
    )
    for stmt in (
        rows.insert_revision("test", "bronze", TierRevision(1, "Other", 1, 1), 2),
        rows.set_lock("test", "bronze", "chess", locked=True),
        rows.set_lock("live", "bronze", "chess", locked=False),
        insert_terms(1, "Other terms", 2),
    ):
        assert await commit(database, stmt) is Outcome.CONFLICT
    assert (await rows.read_catalogue(database.reader)).tiers["test"]["bronze"].current == revision


async def test_the_newest_terms_are_on_offer(database: Database) -> None:
    await commit(database, insert_terms(3, "Third", 3), insert_terms(2, "Second", 4))
    assert (await rows.read_catalogue(database.reader)).offered_terms_version == 3
