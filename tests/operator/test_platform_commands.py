"""Commands about tiers, terms, matches, ledger and database, with and without a running service."""

from contextlib import AsyncExitStack, closing
from pathlib import Path

import msgspec
import pytest

from pgs.operator.command import NoArgs
from pgs.operator.commands.db import DB_CHECK, DB_MIGRATE
from pgs.operator.commands.ledger import LEDGER_CHECK
from pgs.operator.commands.match import MATCH_VOID, MatchId
from pgs.operator.commands.partner import (
    PARTNER_CREATE,
    PARTNER_SHOW,
    NewPartner,
    PartnerId,
)
from pgs.operator.commands.terms import TERMS_PUBLISH, NewTerms
from pgs.operator.commands.tier import (
    TIER_LIST,
    TIER_LOCK,
    TIER_SET,
    TIER_UNLOCK,
    TierNumbers,
    TierOfGame,
)
from pgs.storage.ledger import LedgerTotals
from pgs.storage.sqlite.connections import connect
from pgs.storage.sqlite.reader import SqliteReader
from tests.beside import open_beside
from tests.operator.support import Operator, prepare, serving
from tests.virtual import on_file


async def test_a_tier_gets_a_new_revision_only_if_its_numbers_change(operator: Operator) -> None:
    made = await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 900, "Gold"))
    assert (made.revision, made.name, made.pays_in) == (1, "Gold", False)
    assert (await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 900))).revision == 1
    raised = await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 1001))
    assert (raised.revision, raised.name, raised.pays_in) == (2, "Gold", True)
    listed = await operator.done(TIER_LIST, NoArgs())
    assert [(tier.environment, tier.tier_id, tier.prize_usd_cents) for tier in listed.tiers] == [
        ("test", "bronze", 180),
        ("live", "gold", 1001),
    ]


@pytest.mark.parametrize(("floor", "prize"), [(100, 99), (0, 100), (-1, 5)])
async def test_a_tier_with_an_invalid_floor_or_prize_is_refused(
    operator: Operator, floor: int, prize: int
) -> None:
    assert (
        await operator.refused(TIER_SET, TierNumbers("test", "gold", floor, prize))
    ).reason is None
    assert [tier.tier_id for tier in (await operator.done(TIER_LIST, NoArgs())).tiers] == ["bronze"]


async def test_a_tier_is_locked_for_one_game_and_unlocked_again(operator: Operator) -> None:
    place = TierOfGame("test", "bronze", "chess")
    locked = await operator.done(TIER_LOCK, place)
    assert (locked.locked_games, locked.changed) == (["chess"], True)
    assert not (await operator.done(TIER_LOCK, place)).changed
    unlocked = await operator.done(TIER_UNLOCK, place)
    assert (unlocked.locked_games, unlocked.changed) == ([], True)
    assert (
        await operator.refused(TIER_LOCK, TierOfGame("live", "bronze", "chess"))
    ).reason == "unknown_tier"
    assert (
        await operator.refused(TIER_UNLOCK, TierOfGame("test", "bronze", "poker"))
    ).reason == "unknown_game"


async def test_terms_are_published_under_the_next_version(operator: Operator) -> None:
    assert (await operator.done(TERMS_PUBLISH, NewTerms("New terms."))).version == 2
    assert (await operator.done(TERMS_PUBLISH, NewTerms("Newer terms."))).version == 3
    assert "terms must be" in (await operator.refused(TERMS_PUBLISH, NewTerms(" "))).error
    assert (await operator.done(PARTNER_SHOW, PartnerId("acme"))).agreed_terms_version == 1


async def test_a_match_can_be_voided_by_its_id_and_voided_again(operator: Operator) -> None:
    match_id = await _running_match(operator.config.data_dir)
    voided = await operator.done(MATCH_VOID, MatchId(match_id))
    assert sorted((back.player_id, back.amount_usd_cents) for back in voided.refunds) == [
        ("ann", 100),
        ("bob", 100),
    ]
    assert (voided.partner_id, voided.environment, voided.status, voided.end_reason) == (
        "acme",
        "test",
        "no_contest",
        "platform_void",
    )
    assert (await operator.done(MATCH_VOID, MatchId(match_id))).end_reason == "platform_void"
    assert (await operator.refused(MATCH_VOID, MatchId("mat_0"))).reason == "match_not_found"


async def _running_match(folder: Path) -> str:
    reader = SqliteReader(connect(folder / "pgs.db", query_only=True))
    try:
        ((match_id,),) = await reader.all(
            "matches.running_matches_after",
            partner_id="acme",
            environment="test",
            after="",
            page_size=9,
        )
    finally:
        reader.close()
    return str(match_id)


async def test_a_sound_ledger_is_reported_with_its_totals(operator: Operator) -> None:
    report = await operator.done(LEDGER_CHECK, NoArgs())
    assert report.sound
    assert report.totals == [
        LedgerTotals(
            "test",
            rows=3,
            stakes_usd_cents=300,
            payouts_usd_cents=0,
            refunds_usd_cents=0,
            rake_usd_cents=0,
            open_usd_cents=300,
        )
    ]
    found = [value for name, value in msgspec.structs.asdict(report).items() if name != "totals"]
    assert found == [True, *([] for _ in found[1:])]


async def test_a_row_that_is_missing_from_the_ledger_is_reported(
    tmp_path: Path, served: bool
) -> None:
    await prepare(tmp_path, "alice", "bob", "carol")
    with closing(open_beside(tmp_path / "pgs.db")) as connection:
        connection.execute("delete from ledger where seq = 2")
    async with AsyncExitStack() as stack:
        if served:
            await stack.enter_async_context(serving(tmp_path))
        report = await Operator(tmp_path).done(LEDGER_CHECK, NoArgs())
    assert not report.sound
    assert report.broken_chains == ["acme test: row 2 is missing"]
    assert len(report.seats_booked_otherwise) == 1


async def test_a_sound_database_is_reported_without_problems(operator: Operator) -> None:
    checked = await operator.done(DB_CHECK, NoArgs())
    assert (checked.sound, checked.problems) == (True, [])
    assert checked.migrations[0] == "0001_launch"
    assert (await operator.done(DB_MIGRATE, NoArgs())).migrations == checked.migrations


async def test_a_damaged_database_is_reported(tmp_path: Path) -> None:
    await Operator(tmp_path).done(
        PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example")
    )
    with closing(open_beside(tmp_path / "pgs.db")) as connection:
        # Without a checkpoint, SQLite could read the undamaged page from its write-ahead log.
        connection.execute("pragma wal_checkpoint(truncate)")
        page_size = connection.execute("pragma page_size").get
        # A starting service does not read this table, so the damage does not stop it.
        page = connection.execute("select rootpage from sqlite_master where name = 'event'").get
    with (tmp_path / "pgs.db").open("r+b") as file:
        file.seek((page - 1) * page_size)
        file.write(b"\xff" * page_size)
    async with serving(tmp_path) as core:
        checked = await Operator(tmp_path).done(DB_CHECK, NoArgs())
        assert on_file(core.parts.database).path.exists()
    assert not checked.sound
    assert checked.problems


async def test_a_row_that_breaks_a_rule_of_the_schema_is_found(
    tmp_path: Path, served: bool
) -> None:
    await prepare(tmp_path)
    with closing(open_beside(tmp_path / "pgs.db")) as connection:
        connection.execute("pragma ignore_check_constraints=on")
        connection.execute(
            "insert into tier_lock (environment, tier_id, game_id)"
            " values ('prod', 'bronze', 'chess')"
        )
    async with AsyncExitStack() as stack:
        if served:
            await stack.enter_async_context(serving(tmp_path))
        checked = await Operator(tmp_path).done(DB_CHECK, NoArgs())
    assert not checked.sound
    assert "tier_lock" in " ".join(checked.problems)
