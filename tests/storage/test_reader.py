"""A reader names the query that failed, and cannot write."""

from pathlib import Path

import pytest
import trio

from pgs.storage.transactions import ReadFailed, StoreOutage
from tests.storage.writing import lock, tx_of
from tests.virtual import Faults, open_store


async def test_a_read_that_fails_names_its_query(tmp_path: Path, faults: Faults) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("select")
        with pytest.raises(ReadFailed) as failed:
            await database.reader.all("tiers.locks")
        assert failed.value.noun == "tiers"
        with pytest.raises(ReadFailed) as failed:
            await database.reader.one("seats.find_head", partner_id="p", environment="test")
        assert failed.value.noun == "seats"
        assert str(failed.value) == "seats.find_head: disk I/O error"


async def test_a_read_with_a_missing_parameter_is_a_bug_and_no_outage(tmp_path: Path) -> None:
    with open_store(tmp_path) as database, pytest.raises(KeyError, match="environment"):
        await database.reader.one("seats.find_head", partner_id="p")


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with open_store(tmp_path) as database, pytest.raises(StoreOutage, match="readonly"):
        await database.reader.one(
            "tiers.insert_lock", environment="test", tier_id="bronze", game_id="chess"
        )


async def test_a_second_reader_works_in_another_thread(tmp_path: Path) -> None:
    with open_store(tmp_path) as database:
        await database.writer.submit(tx_of(lock("chess")))
        reader = database.second_reader()
        assert await trio.to_thread.run_sync(lambda: trio.run(reader.all, "tiers.locks")) == [
            ("test", "bronze", "chess")
        ]
        reader.close()
