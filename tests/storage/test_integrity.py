"""The daily check finds what was damaged, altered or deleted, and finds nothing in sound data."""

import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from pgs.storage.integrity import check_everything
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage
from tests.actors.ready_core import ready_core
from tests.beside import open_beside


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for a service in which the first of these tests has played a match."""
    return tmp_path_factory.mktemp("played") / "data"


@pytest.fixture
async def folder(played: Path, tmp_path: Path, autojump_clock: object) -> Path:
    """A copy of the played folder, which a test may ruin."""
    if not played.exists():  # noqa: ASYNC240  a file of the test
        async with ready_core(played) as s:
            await s.seat("alice", "a")
            await s.decide((await s.seat("bob", "b")).match_id, "alice")
            await s.seat("carol", "c")
            await s.check_money()
    return Path(shutil.copytree(played, tmp_path / "data"))


def _change(folder: Path, *statements: str) -> None:
    with closing(open_beside(folder / "pgs.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        assert connection.total_changes() >= len(statements), "a statement changed nothing"


async def _faults(folder: Path) -> list[str]:
    database = SqliteDatabase(folder, inline=True)
    try:
        faults = await check_everything(database)
        assert (await check_ledger(database.reader)).faults() == faults
        return faults
    finally:
        database.close()


async def test_sound_data_has_no_fault(folder: Path) -> None:
    assert await _faults(folder) == []


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (
            (
                "delete from ledger where seat_id = (select seat_id from seat where seq = 3)",
                "update head set ledger_seq = (select max(seq) from ledger), ledger_hash = (select "
                "hash from ledger order by seq desc limit 1) where environment = 'test'",
                "update totals set seats = seats - 1, seat_stakes_usd_cents = "
                "seat_stakes_usd_cents - (select stake_usd_cents from seat where seq = 3)",
                "delete from seat where seq = 3",
            ),
            "heads that do not add up: acme test: seats taken: 3, seats found: 2",
        ),
        (
            ("update head set final_day = final_day + 1 where environment = 'test'",),
            "heads that do not add up: acme test: the last final day was altered",
        ),
        (
            ("update seat set seq = 1 where seq = 2",),
            "heads that do not add up: acme test: seats taken: 3, seats found: 2",
        ),
        (
            ("update head set final_day = 5, final_seal = '' where environment = 'test'",),
            "heads that do not add up: acme test: the last final day was altered",
        ),
        (
            ("delete from partner",),
            "heads that do not add up: acme: the account is missing",
        ),
        (
            ("update head set environment = 'live' where environment = 'test'",),
            "heads that do not add up: acme test: seats taken: 0, seats found: 3",
        ),
    ],
)
async def test_deleted_seats_altered_days_and_missing_accounts_are_found(
    folder: Path, statements: tuple[str, ...], found: str
) -> None:
    _change(folder, *statements)
    assert found in await _faults(folder)


def _damage(folder: Path, name: str) -> None:
    """Overwrite the root page of a table or an index."""
    with closing(open_beside(folder / "pgs.db")) as connection:
        root = connection.execute("select rootpage from sqlite_master where name = ?", (name,)).get
        size = connection.execute("pragma page_size").get
    with (folder / "pgs.db").open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\x0d" * size)


async def test_a_damaged_index_is_found_on_a_thread(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.storage.sqlite.checks.STEPS_BETWEEN_PAUSES", 100)
    monkeypatch.setattr("pgs.storage.pauses.PAUSE_S", 0.0001)
    for name in ("seat_idempotency", "ledger"):
        _damage(folder, name)
        database = SqliteDatabase(folder)
        try:
            assert len(await check_everything(database)) > 0
        finally:
            database.close()


async def test_a_query_on_damaged_data_ends_the_check_with_its_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise apsw.CorruptError("database disk image is malformed")

    monkeypatch.setattr("pgs.storage.sqlite.checks.check_ledger", fail)
    database = SqliteDatabase(folder, inline=True)
    try:
        assert await check_everything(database) == ["database disk image is malformed"]
        (folder / "pgs.db").unlink()
        with pytest.raises(StoreOutage, match="has vanished"):
            await check_everything(database)
    finally:
        database.close()
