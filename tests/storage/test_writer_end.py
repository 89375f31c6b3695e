"""Closing the writer commits the queued writes, and no fault leaves a caller waiting."""

import threading
from pathlib import Path

import apsw
import pytest
import trio
from structlog.testing import capture_logs

from pgs.storage import writer as writer_module
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.database import Database
from pgs.storage.sqlite.commits import SqliteCommits
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite_driver import opened
from pgs.storage.transactions import Outcome, OutcomeUnknown, WriteFailed
from pgs.storage.writer import Writer
from tests.beside import open_beside
from tests.storage.writing import (
    INLINE,
    AllIsWell,
    lock,
    locked_games,
    submit_all,
    submit_or_error,
    tx_of,
    unlock,
    until,
)
from tests.virtual import Faults, open_store


async def test_closing_the_database_commits_the_queued_writes(
    tmp_path: Path, faults: Faults
) -> None:
    with open_store(tmp_path, faults, inline=False) as database:
        database.start()
        with faults.hold("commit") as release, trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                for number in range(20):
                    nursery.start_soon(submit_or_error, database, tx_of(lock(f"game-{number}")))
                await until(lambda: database.writer.waiting == 20 and faults.count("commit") == 1)
                threading.Timer(0.05, release.set).start()
                database.close()
                scope.cancel()
    connection = open_beside(database.path)
    assert connection.execute("select count(*) from tier_lock").fetchone() == (20,)
    connection.close()


def test_closing_after_the_trio_run_commits_writes_whose_callers_are_gone(
    tmp_path: Path, faults: Faults
) -> None:
    database = SqliteDatabase(tmp_path, factory=faults.factory)
    faults.statements.clear()

    async def leave_writes_behind() -> None:
        database.start()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(submit_or_error, database, tx_of(lock("a")))
                await until(lambda: faults.count("commit") == 1)
                nursery.start_soon(submit_or_error, database, tx_of(lock("b")))
                await until(lambda: database.writer.waiting == 2)
                scope.cancel()

    with faults.hold("commit"):
        trio.run(leave_writes_behind)
    database.close()
    with open_store(tmp_path) as again:
        assert trio.run(locked_games, again) == {"a", "b"}


@INLINE
async def test_closing_the_writer_closes_its_connection(inline: bool) -> None:
    connection = opened(":memory:", 0)
    writer = Writer(SqliteCommits(connection, AllIsWell()), inline=inline)
    writer.start()
    assert writer.close()
    with pytest.raises(apsw.ConnectionClosedError, match="closed"):
        connection.execute("select 1")


async def test_closing_an_in_line_writer_commits_the_queued_writes(tmp_path: Path) -> None:
    with open_store(tmp_path) as database:
        submit = database.writer.submit(tx_of(lock("a")))
        submit.send(None)  # the write is now in the queue
        database.close()
        submit.close()
    with open_store(tmp_path) as again:
        assert await locked_games(again) == {"a"}


async def test_a_write_after_closing_is_refused(tmp_path: Path) -> None:
    for inline in (True, False):
        database = SqliteDatabase(tmp_path, inline=inline)
        database.start()
        database.close()
        with pytest.raises(WriteFailed):
            await database.writer.submit(tx_of(lock("a")))


async def test_a_write_to_a_writer_that_was_not_started_raises_at_once(
    threaded: Database,
) -> None:
    with pytest.raises(RuntimeError, match="not started"):
        await threaded.writer.submit(tx_of(lock("a")))


async def test_a_disk_that_hangs_does_not_keep_the_process_from_ending(
    tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "CLOSE_GRACE_S", 0.05)
    database = SqliteDatabase(tmp_path, factory=faults.factory)
    faults.statements.clear()
    database.start()
    with faults.hold("commit") as release:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(submit_or_error, database, tx_of(lock("a")))
                await until(lambda: faults.count("commit") == 1)
                scope.cancel()
        with capture_logs() as logged:
            database.close()
        assert [line["event"] for line in logged] == ["writer_stalled"]
        with pytest.raises(DataFolderInUse):
            SqliteDatabase(tmp_path)
        release.set()
    monkeypatch.setattr(writer_module, "CLOSE_GRACE_S", 30)
    database.close()
    with open_store(tmp_path) as again:
        assert await locked_games(again) == {"a"}


@INLINE
async def test_an_unforeseen_error_in_the_writer_leaves_nobody_waiting(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("commit")
        faults.fail("rollback", MemoryError(), times=1)
        outcomes = await submit_all(database, tx_of(lock("a")), tx_of(lock("b")))
        faults.heal()
        assert [type(result) for result in outcomes] == [OutcomeUnknown] * 2
        assert await database.writer.submit(tx_of(lock("c"))) is Outcome.COMMITTED


# Nothing handles the exception with which the test kills the writer's thread.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_when_the_writers_thread_dies_waiting_and_later_writes_fail(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "GROUP_LIMIT", 2)
    threaded.start()
    faults.fail("begin immediate", SystemExit())
    outcomes = await submit_all(threaded, *[tx_of(lock(f"game-{number}")) for number in range(5)])
    assert {type(result) for result in outcomes} <= {OutcomeUnknown, WriteFailed}
    await until(threaded.writer.stalled)
    with pytest.raises(WriteFailed):
        await threaded.writer.submit(tx_of(lock("late")))


async def test_a_log_that_cannot_be_written_changes_no_outcome(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    class BrokenPipe:
        def error(self, *_: object, **__: object) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(writer_module, "log", BrokenPipe())
    threaded.start()
    faults.fail("delete from tier_lock")
    outcomes = await submit_all(threaded, tx_of(lock("a")), tx_of(unlock("b")), tx_of(lock("c")))
    assert [type(result) for result in outcomes] == [Outcome, WriteFailed, Outcome]
