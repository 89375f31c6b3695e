"""SQLite's log is written back into the database's file, and neither a kill nor an error hurts."""

import shutil
import signal
import sys
from pathlib import Path

import apsw
import pytest
import trio

from tests.patience import PATIENCE_S
from tests.storage.writing import lock, locked_games, tx_of
from tests.virtual import Faults, open_store

# Commits a lock of a game, and is killed when it has written the log back for a minute: after the
# commit or, with "stop", because the service stops. `synced` gets what is on disk of the mark.
_DIES_WRITING_BACK = """
import os, pathlib, shutil, signal, sys, time, apsw, trio
from pgs.storage.sqlite import commits
from pgs.storage.sqlite.database import SqliteDatabase
from tests.storage.writing import lock, tx_of
folder, game, when = pathlib.Path(sys.argv[1]), *sys.argv[2:]
sync = os.fsync
def fsync(file):
    sync(file)
    for mark in folder.glob("pgs.mark*"):
        if os.path.samestat(mark.stat(), os.fstat(file)):
            shutil.copy2(mark, folder.parent / "synced")
os.fsync = fsync
class Dying(apsw.Connection):
    def wal_checkpoint(self, *args):
        super().wal_checkpoint(*args)
        later = time.time() + 60
        os.utime(folder / "pgs.db", (later, later))
        os.kill(os.getpid(), signal.SIGKILL)
    def close(self, *args):
        self.wal_checkpoint()
async def main():
    if when == "commit":
        commits.LOG_PAGES = 1
    database = SqliteDatabase(folder, factory=Dying)
    database.start()
    await database.writer.submit(tx_of(lock(game)))
    database.writer.close()
trio.run(main)
"""


@pytest.mark.parametrize("power_cut", [False, True], ids=["kill", "power cut"])
@pytest.mark.parametrize("when", ["commit", "stop"])
async def test_a_service_that_ends_while_the_log_is_written_back_starts_again(
    tmp_path: Path, when: str, power_cut: bool
) -> None:
    folder = tmp_path / "data"
    command = [sys.executable, "-c", _DIES_WRITING_BACK, str(folder), "chess", when]
    with trio.fail_after(PATIENCE_S):
        done = await trio.run_process(command, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (folder / "pgs.db-wal").stat().st_size > 0
    if power_cut:
        shutil.copy2(tmp_path / "synced", folder / "pgs.mark")
    with open_store(folder) as database:
        assert await locked_games(database) == {"chess"}


async def test_a_log_that_cannot_be_written_back_is_written_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.storage.sqlite.commits.LOG_PAGES", 1)
    faults = Faults()
    with open_store(tmp_path, faults) as database:
        faults.fail("wal_checkpoint", apsw.FullError("database or disk is full"))
        await database.writer.submit(tx_of(lock("a")))
        faults.heal()
        written_at = database.path.stat().st_mtime_ns
        await database.writer.submit(tx_of(lock("b")))
        assert database.path.stat().st_mtime_ns > written_at
        assert faults.count("wal_checkpoint") == 2
