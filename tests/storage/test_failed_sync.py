"""A failed sync of the disk ends the process; any other failed write does not."""

import os
import signal
from pathlib import Path

import apsw
import pytest
from structlog.testing import capture_logs

from tests.storage.writing import lock, locked_games, submit_all, tx_of
from tests.virtual import Faults, open_store


class _Ended(BaseException):
    """Raised where the service would kill its own process."""


def _error(code: int) -> apsw.Error:
    error = apsw.IOError("disk I/O error")
    vars(error).update(result=code & 0xFF, extendedresult=code)
    return error


@pytest.mark.parametrize("statement", ["commit", "insert into heartbeat", "wal_checkpoint"])
async def test_a_failed_sync_ends_the_process_before_anything_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    def end(pid: int, number: int) -> None:
        assert (pid, number) == (os.getpid(), signal.SIGKILL)
        raise _Ended

    monkeypatch.setattr("pgs.storage.sqlite.commits.os.kill", end)
    monkeypatch.setattr("pgs.storage.sqlite.commits.LAST_LINE_S", 0)
    monkeypatch.setattr("pgs.storage.sqlite.commits.LOG_PAGES", 1)  # each commit writes it back
    faults = Faults()
    with open_store(tmp_path, faults) as database, capture_logs() as logged:
        faults.fail(statement, _error(apsw.SQLITE_IOERR_FSYNC), times=1)
        with pytest.raises(_Ended):
            await database.writer.submit(tx_of(lock("a")))
        assert logged[-1]["event"] == "sync_failed"
        faults.heal()


async def test_a_full_disk_heals_without_a_restart(tmp_path: Path) -> None:
    faults = Faults()
    with open_store(tmp_path, faults) as database:
        faults.fail("commit", _error(apsw.SQLITE_FULL))
        assert [str(result) for result in await submit_all(database, tx_of(lock("a")))] == [
            "disk I/O error"
        ]
        faults.heal()
        await database.writer.submit(tx_of(lock("b")))
        assert "b" in await locked_games(database)
