"""A write is committed, conflicts, fails or has an unknown outcome, and its caller learns which."""

from pathlib import Path

import apsw
import pytest

from pgs.storage.transactions import Outcome, OutcomeUnknown, Stmt, WriteFailed
from tests.storage.writing import INLINE, lock, locked_games, tx_of, unlock
from tests.virtual import Faults, open_store


@INLINE
async def test_a_committed_write_can_be_read_at_once(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        assert await locked_games(database) == set()
        assert (
            await database.writer.submit(tx_of(lock("chess"), lock("reversi"))) is Outcome.COMMITTED
        )
        assert await locked_games(database) == {"chess", "reversi"}
        assert await database.reader.one("terms.newest_terms") is not None


@INLINE
async def test_a_violated_unique_index_is_a_conflict_and_nothing_is_written(
    tmp_path: Path, inline: bool
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        await database.writer.submit(tx_of(lock("chess")))
        assert (
            await database.writer.submit(tx_of(lock("reversi"), lock("chess"))) is Outcome.CONFLICT
        )
        assert await locked_games(database) == {"chess"}


@INLINE
async def test_a_statement_that_changes_an_unexpected_number_of_rows_is_a_conflict(
    tmp_path: Path, inline: bool
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        assert (
            await database.writer.submit(tx_of(lock("chess"), unlock("reversi")))
            is Outcome.CONFLICT
        )
        assert await locked_games(database) == set()
        assert (
            await database.writer.submit(tx_of(lock("chess"), unlock("reversi", None)))
            is Outcome.COMMITTED
        )
        assert await database.writer.submit(tx_of(unlock("reversi", 0))) is Outcome.COMMITTED


@INLINE
async def test_a_statement_that_the_disk_refuses_fails_and_nothing_is_written(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("delete from tier_lock", apsw.FullError("database or disk is full"))
        with pytest.raises(WriteFailed, match="disk is full"):
            await database.writer.submit(tx_of(lock("chess"), unlock("chess")))
        assert await locked_games(database) == set()
        faults.heal()
        assert await database.writer.submit(tx_of(lock("chess"))) is Outcome.COMMITTED


@INLINE
async def test_a_transaction_that_cannot_begin_fails_and_nothing_is_written(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("begin immediate")
        with pytest.raises(WriteFailed):
            await database.writer.submit(tx_of(lock("chess")))
        assert await locked_games(database) == set()


@INLINE
@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
async def test_a_commit_that_fails_leaves_the_outcome_unknown(
    tmp_path: Path, faults: Faults, inline: bool, landed: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("commit", after=landed)
        with pytest.raises(OutcomeUnknown, match="disk I/O error"):
            await database.writer.submit(tx_of(lock("chess")))
        assert await locked_games(database) == ({"chess"} if landed else set())
        faults.heal()
        assert await database.writer.submit(tx_of(lock("reversi"))) is Outcome.COMMITTED


@INLINE
@pytest.mark.parametrize(
    ("stmt", "error"),
    [
        (Stmt("tiers.no_such_query", {}), KeyError),
        (Stmt("tiers.insert_lock", {"environment": "test"}), KeyError),
        (
            Stmt("tiers.insert_lock", {"environment": "moon", "tier_id": "a", "game_id": "b"}),
            apsw.ConstraintError,
        ),
        (
            Stmt("tiers.insert_lock", {"environment": "test", "tier_id": 2**63, "game_id": "b"}),
            OverflowError,
        ),
        (Stmt("tiers.locks", {}), TypeError),
    ],
    ids=["unknown name", "missing parameter", "broken check", "too great a number", "a select"],
)
async def test_a_bug_in_a_statement_is_no_outage(
    tmp_path: Path, inline: bool, stmt: Stmt, error: type[Exception]
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        with pytest.raises(error):
            await database.writer.submit(tx_of(lock("chess"), stmt))
        assert await locked_games(database) == set()
        assert await database.writer.submit(tx_of(lock("chess"))) is Outcome.COMMITTED
