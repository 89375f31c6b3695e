"""A backup is complete or absent. A start on a backup moves each feed beyond its old cursors."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgs.config import KEY_FILE_NAME
from pgs.storage.accounts import insert_partner
from pgs.storage.backup import BadTarget, back_up
from pgs.storage.restored_feeds import (
    FEED_EPOCH,
    FEED_GAP,
    POSITIONS_A_SECOND,
)
from pgs.storage.seats import Head, find_head, move_head
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage, Tx
from tests.beside import open_beside
from tests.making import account
from tests.virtual import START, open_store

INLINE = pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with open_store(tmp_path / "data") as opened:
        yield opened


def _ring(path: Path) -> None:
    path.write_text("the keys")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@INLINE
async def test_only_the_owner_can_read_a_backup_and_it_overwrites_nothing(
    tmp_path: Path, inline: bool
) -> None:
    with open_store(tmp_path / "data", inline=inline) as database:
        database.start()
        target = tmp_path / "copy"
        assert (await back_up(database, target, _ring)).stat().st_mode & 0o777 == 0o600
        assert _names(target) == ["keys", "pgs.db"]
        for taken in (target, tmp_path):
            with pytest.raises(BadTarget, match="not empty"):
                await back_up(database, taken, _ring)
        assert _names(target) == ["keys", "pgs.db"]


@pytest.mark.parametrize("made_before", [True, False])
@pytest.mark.parametrize("broken", ["database.connect", "backup.os.fsync", "the keys"])
async def test_a_failed_backup_leaves_nothing_and_the_next_one_succeeds(
    database: SqliteDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
    made_before: bool,
) -> None:
    target = tmp_path / "copy"
    if made_before:
        target.mkdir()

    def half_a_ring(path: Path) -> None:
        path.with_name(KEY_FILE_NAME + ".new").write_text("hal")
        _no_space()

    with monkeypatch.context() as patch:
        if broken != "the keys":
            patch.setattr(f"pgs.storage.sqlite.{broken}", _no_space)
        with pytest.raises(StoreOutage, match="No space left"):
            await back_up(database, target, half_a_ring if broken == "the keys" else _ring)
    assert target.exists() == made_before
    assert not made_before or _names(target) == []
    await back_up(database, target, _ring)
    assert _names(target) == ["keys", "pgs.db"]


@pytest.mark.parametrize("fault", ["name", "file", "copy"])
async def test_a_backup_that_fails_removes_every_folder_that_it_made(
    database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    target = there / "new" / ("x" * 300 if fault == "name" else "copy")
    if fault == "file":
        monkeypatch.setattr(Path, "touch", _no_space)
    if fault == "copy":
        monkeypatch.setattr("pgs.storage.sqlite.backup.os.fsync", _no_space)
    with pytest.raises(StoreOutage if fault == "copy" else BadTarget, match=r"No space|too long"):
        await back_up(database, target, _ring)
    assert _names(there) == []


@pytest.mark.parametrize(
    "left",
    [
        ["pgs.db.part"],
        ["pgs.db.part", "pgs.db.part-journal"],
        ["pgs.db.part", "keys.new"],
        ["pgs.db.part", "keys"],
    ],
)
async def test_the_files_of_a_killed_backup_do_not_block_the_next_one(
    database: SqliteDatabase, tmp_path: Path, left: list[str]
) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    for name in left:
        (target / name).write_text("half")
    await back_up(database, target, _ring)
    assert _names(target) == ["keys", "pgs.db"]
    assert (target / "keys").read_text() == "the keys"


@pytest.mark.parametrize(
    "names",
    [["keys"], ["keys.new"], ["pgs.db"], ["pgs.db.part", "pgs.db"], ["pgs.db.part", "notes"]],
)
async def test_a_folder_with_other_files_than_those_of_a_killed_backup_is_refused(
    database: SqliteDatabase, tmp_path: Path, names: list[str]
) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    for name in names:
        (target / name).write_text("precious")
    with pytest.raises(BadTarget, match="not empty"):
        await back_up(database, target, _ring)
    assert _names(target) == sorted(names)


async def test_a_backup_inside_its_own_data_folder_is_refused(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").symlink_to(database.folder)
    for target in (
        database.folder,
        database.folder / "backup",
        tmp_path / "elsewhere" / "backup",
        database.folder / "x" / ".." / "y",
    ):
        with pytest.raises(BadTarget, match="data folder"):
            await back_up(database, target, _ring)
    assert not (database.folder / "backup").exists()


async def test_a_backup_whose_copy_is_not_sound_fails(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    with closing(open_beside(database.path)) as connection:
        connection.execute("pragma ignore_check_constraints=on")
        connection.execute(
            "insert into tier_lock (environment, tier_id, game_id) "
            "values ('prod', 'bronze', 'chess')"
        )
    with pytest.raises(StoreOutage, match="not sound"):
        await back_up(database, tmp_path / "copy", _ring)
    assert not (tmp_path / "copy").exists()


async def _with_partner(database: SqliteDatabase, head: Head | None = None) -> None:
    stmts = [insert_partner(account())]
    if head is not None:
        stmts.append(move_head("acme", "test", Head(), head))
    await database.writer.submit(Tx("acme", tuple(stmts)))


async def test_a_restored_backup_moves_every_feed_by_a_gap_and_keeps_seat_sequences(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _with_partner(database, Head(7, 12))
    await back_up(database, tmp_path / "copy")
    with open_store(tmp_path / "copy") as copy:
        assert copy.take_over(START)
        floor = (START - FEED_EPOCH) * POSITIONS_A_SECOND + FEED_GAP
        assert await find_head(copy.reader, "acme", "test") == Head(7, floor)
        # The first live seat may have been taken after the copy.
        assert await find_head(copy.reader, "acme", "live") == Head(0, floor)
        assert not copy.take_over(START + 1000)
    assert not database.take_over(START)
    assert await find_head(database.reader, "acme", "test") == Head(7, 12)


async def test_a_feed_moves_by_the_gap_even_if_the_clock_is_far_behind(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _with_partner(database, Head(7, 12))
    await back_up(database, tmp_path / "copy")
    with open_store(tmp_path / "copy") as copy:
        assert copy.take_over(0)
        assert await find_head(copy.reader, "acme", "test") == Head(7, 12 + FEED_GAP)


async def test_a_later_restored_backup_starts_beyond_an_earlier_one(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _with_partner(database, Head(7, 12))
    positions = []
    for number, at in enumerate((START, START + 60)):
        await back_up(database, tmp_path / f"copy{number}")
        with open_store(tmp_path / f"copy{number}") as copy:
            copy.take_over(at)
            positions.append((await find_head(copy.reader, "acme", "test")).feed_position)
    assert positions[1] - positions[0] >= 60 * POSITIONS_A_SECOND


async def test_the_feed_is_raised_again_when_a_backup_of_a_restored_backup_is_opened(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _with_partner(database, Head(7, 12))
    await back_up(database, tmp_path / "one")
    with open_store(tmp_path / "one") as one:
        one.take_over(START)
        was = (await find_head(one.reader, "acme", "test")).feed_position
        await back_up(one, tmp_path / "two")
    with open_store(tmp_path / "two") as two:
        assert two.take_over(START)
        assert (await find_head(two.reader, "acme", "test")).feed_position > was


def test_positions_stay_below_2_to_the_53_until_the_year_2200() -> None:
    year_2200 = 7_258_118_400
    assert (year_2200 - FEED_EPOCH) * POSITIONS_A_SECOND + 1000 * FEED_GAP < 2**53


async def test_a_failed_take_over_is_an_outage_and_is_repeated_by_the_next_start(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _with_partner(database, Head(7, 12))
    await back_up(database, tmp_path / "copy")
    with open_store(tmp_path / "copy") as copy:
        with closing(open_beside(copy.path)) as connection:
            connection.execute(
                "create trigger broken before update on head begin select raise(abort, 'no'); end"
            )
        with pytest.raises(StoreOutage, match="cannot be taken over"):
            copy.take_over(START)
        with closing(open_beside(copy.path)) as connection:
            connection.execute("drop trigger broken")
        assert copy.take_over(START)
