"""A start touches nothing until the files of the data folder are known to belong together."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs.storage.data_folder import DataRefused
from pgs.storage.database_mark import MARK_NAME, Mark, read_mark, write_mark
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage
from tests.beside import open_beside
from tests.patience import PATIENCE_S
from tests.storage.writing import lock, locked_games, submit_all, tx_of
from tests.virtual import open_store

GAMES = [f"game-{number}" for number in range(6)]

_LIVE = """
import os, pathlib, signal, sys, trio
from pgs.storage.sqlite.database import SqliteDatabase
from tests.storage.writing import lock, tx_of
async def main():
    database = SqliteDatabase(pathlib.Path(sys.argv[1]))
    database.start()
    for game in sys.argv[2:]:
        await database.writer.submit(tx_of(lock(game)))
    os.kill(os.getpid(), signal.SIGKILL)
trio.run(main)
"""


def _die_after(folder: Path, *games: str) -> None:
    """Commit locks of games in a process of its own, which is then killed."""
    done = subprocess.run(
        [sys.executable, "-c", _LIVE, folder, *games], check=False, timeout=PATIENCE_S
    )
    assert done.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that was killed after it acknowledged `GAMES`, and a copy before."""
    folder = tmp_path_factory.mktemp("killed") / "data"
    SqliteDatabase(folder).close()
    shutil.copytree(folder, folder.with_name("before"))
    _die_after(folder, *GAMES)
    return folder


@pytest.fixture
def folder(killed: Path, tmp_path: Path) -> Path:
    """The killed service's own files, which the test may ruin."""
    here = tmp_path / "data"
    # Moved back afterwards: a copy would have other inodes, as after a move to another disk.
    shutil.copytree(killed, here)
    mark = read_mark(here)
    assert mark is not None
    _remember(here, mark)
    return here


def _remember(folder: Path, mark: Mark) -> None:
    write_mark(
        folder,
        Mark(
            mark.state,
            mark.database,
            mark.commits,
            (folder / "pgs.db").stat().st_ino,
            (folder / "pgs.db-wal").stat().st_ino,
        ),
    )


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"lock"}


async def _games(folder: Path) -> set[str]:
    with open_store(folder) as database:
        return await locked_games(database)


async def test_a_database_that_was_away_during_a_start_comes_back_with_all_its_commits(
    folder: Path, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    (folder / "pgs.db").rename(away)
    was = _names(folder)
    for _ in range(2):
        with pytest.raises(DataRefused, match=r"pgs.db is missing, but .*pgs.db-wal.* are there"):
            SqliteDatabase(folder)
    assert _names(folder) == was
    away.rename(folder / "pgs.db")
    assert await _games(folder) == set(GAMES)


@pytest.mark.parametrize("left", ["pgs.db-wal", "pgs.db-shm", MARK_NAME])
def test_a_folder_in_which_a_database_has_been_is_not_new(
    folder: Path, tmp_path: Path, left: str
) -> None:
    for path in folder.iterdir():
        if path.name != left:
            path.unlink()
    with pytest.raises(DataRefused, match=f"{left} is there, so this service is not new"):
        SqliteDatabase(folder)
    assert _names(folder) == {left}


def test_a_folder_with_the_socket_of_a_service_is_not_new(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        was = os.getcwd()
        os.chdir(tmp_path)  # the path of a socket is short
        try:
            listening.bind("operator.sock")
        finally:
            os.chdir(was)
        with pytest.raises(DataRefused, match=r"operator\.sock is there"):
            SqliteDatabase(tmp_path)


def test_a_folder_whose_key_ring_exists_elsewhere_is_not_new(tmp_path: Path) -> None:
    ring = tmp_path / "vault" / "keys"
    ring.parent.mkdir()
    ring.write_text("a ring")
    for folder in (tmp_path / "unmounted", ring.parent):
        with pytest.raises(DataRefused, match=f"{ring} is there, so this service is not new"):
            SqliteDatabase(folder, key_file=ring)
        assert not (folder / "pgs.db").exists()


@pytest.mark.parametrize("size", [None, 0, 32, 4000])
def test_a_lost_log_after_a_kill_is_refused_and_can_be_put_back(
    folder: Path, tmp_path: Path, size: int | None
) -> None:
    log, kept = folder / "pgs.db-wal", tmp_path / "log"
    shutil.copyfile(log, kept)
    (folder / "pgs.db-shm").unlink()
    if size is None:
        log.unlink()
    else:
        os.truncate(log, size)
    for _ in range(2):
        with pytest.raises(DataRefused, match=r"lacks the last (\d+ )?commit.*accept-loss"):
            SqliteDatabase(folder)
    shutil.copyfile(kept, log)
    SqliteDatabase(folder).close()
    mark = read_mark(folder)
    assert mark is not None
    assert mark.state == "closed"


def test_an_older_copy_that_was_put_back_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    SqliteDatabase(folder).close()
    shutil.copyfile(folder / "pgs.db", tmp_path / "old")
    SqliteDatabase(folder).close()
    shutil.copyfile(tmp_path / "old", folder / "pgs.db")
    for _ in range(2):
        with pytest.raises(DataRefused, match=r"is an older copy.*had 1 more commit\."):
            SqliteDatabase(folder)


def test_another_database_is_refused_before_its_neighbours_log_is_applied_to_it(
    folder: Path, tmp_path: Path
) -> None:
    SqliteDatabase(tmp_path / "other").close()
    other = (tmp_path / "other" / "pgs.db").read_bytes()
    (folder / "pgs.db").write_bytes(other)
    with pytest.raises(DataRefused, match="is not the database that"):
        SqliteDatabase(folder)
    assert (folder / "pgs.db").read_bytes() == other


@pytest.mark.parametrize("in_place", [True, False])
def test_an_older_copy_under_the_log_of_a_killed_service_is_refused(
    folder: Path, killed: Path, in_place: bool
) -> None:
    if not in_place:
        (folder / "pgs.db").rename(folder.parent / "away")
    shutil.copyfile(killed.with_name("before") / "pgs.db", folder / "pgs.db")
    later = (folder / MARK_NAME).stat().st_mtime + 60
    os.utime(folder / "pgs.db", (later, later))
    with pytest.raises(DataRefused, match="was replaced after the service ended"):
        SqliteDatabase(folder)


async def test_a_whole_folder_may_move_to_another_disk_after_a_kill(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert await _games(tmp_path / "elsewhere") == set(GAMES)


async def test_a_killed_service_whose_log_sqlite_has_already_applied_starts(folder: Path) -> None:
    connection = open_beside(folder / "pgs.db")
    connection.execute("select count(*) from tier_lock").fetchone()
    connection.close()
    assert not (folder / "pgs.db-wal").exists()
    assert await _games(folder) == set(GAMES)


def test_a_damaged_mark_is_refused(folder: Path) -> None:
    (folder / MARK_NAME).write_text("{")
    with pytest.raises(DataRefused, match=r"pgs\.mark is damaged"):
        SqliteDatabase(folder)


async def test_a_start_that_was_killed_before_the_database_existed_is_continued(
    tmp_path: Path,
) -> None:
    write_mark(tmp_path, Mark("making"))
    (tmp_path / "keys").write_text("a ring")
    assert await _games(tmp_path) == set()


def test_a_mark_that_cannot_be_written_is_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    SqliteDatabase(tmp_path / "used").close()
    with monkeypatch.context() as patch:
        patch.setattr("pgs.storage.database_mark.sync_folder", full)
        for folder in (tmp_path / "used", tmp_path / "new"):
            with pytest.raises(StoreOutage, match="the mark cannot be written"):
                SqliteDatabase(folder)
    for folder in (tmp_path / "used", tmp_path / "new"):
        SqliteDatabase(folder).close()


@pytest.fixture
def open_database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with open_store(tmp_path / "data") as database:
        yield database


@pytest.mark.parametrize("name", ["pgs.db", "pgs.db-wal", "pgs.db-shm"])
async def test_no_write_is_acknowledged_while_a_file_is_gone_and_it_goes_on_once_it_is_back(
    open_database: SqliteDatabase, tmp_path: Path, name: str
) -> None:
    path = open_database.folder / name
    path.rename(tmp_path / "away")
    (refused,) = await submit_all(open_database, tx_of(lock("a")))
    assert isinstance(refused, StoreOutage)
    assert f"{path} has vanished" in str(refused)
    with pytest.raises(StoreOutage, match="has vanished"):
        open_database.second_reader()
    path.write_bytes(b"another")
    assert "was replaced" in str(open_database.lost())
    (tmp_path / "away").replace(path)
    assert open_database.lost() is None
    await open_database.writer.submit(tx_of(lock("b")))
    assert await locked_games(open_database) == {"b"}


async def test_a_write_during_which_a_file_vanishes_has_no_known_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path) as database:
        answers = iter([None, "it has vanished"])
        monkeypatch.setattr(database.files, "lost", lambda: next(answers, None))
        (refused,) = await submit_all(database, tx_of(lock("a")))
        assert str(refused) == "it has vanished"


def test_files_that_cannot_be_looked_at_count_as_lost(
    open_database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("pgs.storage.sqlite.identity.os.stat", denied)
        assert "Permission denied" in str(open_database.lost())


def test_a_database_whose_file_was_deleted_is_not_taken_for_closed(tmp_path: Path) -> None:
    with open_store(tmp_path):
        (tmp_path / "pgs.db").unlink()
    with pytest.raises(DataRefused, match=r"pgs\.mark.*so this service is not new"):
        SqliteDatabase(tmp_path)


async def test_a_checkpoint_that_a_reader_cut_short_is_not_taken_for_overwriting(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    with open_store(folder) as database:
        reader = database.connect_to_read()
        await submit_all(database, *(tx_of(lock(game)) for game in GAMES[:3]))
        reader.execute("begin")
        reader.execute("select count(*) from tier_lock").fetchone()
        await submit_all(database, *(tx_of(lock(game)) for game in GAMES[3:]))
        other = open_beside(folder / "pgs.db")
        _, pages, written = other.execute("pragma wal_checkpoint(passive)").get
        other.close()
        assert 0 < written < pages
        assert database.lost() is None
        await submit_all(database, tx_of(lock("later")))
        shutil.copytree(folder, tmp_path / "killed")
        reader.close()
    mark = read_mark(tmp_path / "killed")
    assert mark is not None
    _remember(tmp_path / "killed", mark)
    assert await _games(tmp_path / "killed") == {*GAMES, "later"}
