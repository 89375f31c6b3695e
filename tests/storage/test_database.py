"""The database: one writer, commits in groups, a reader beside it, and a disk that fails in every way we know."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from pgs.storage import writer as writer_module
from pgs.storage.database import (
    Database,
    DataFolderInUse,
    Outcome,
    OutcomeUnknown,
    ReadFailed,
    Stmt,
    StoreOutage,
    Tx,
    WriteFailed,
    WriterFull,
    connect,
)
from tests.virtual import Faults, open_store

INLINE = pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def threaded(tmp_path: Path, faults: Faults) -> Iterator[Database]:
    with open_store(tmp_path, faults, inline=False) as database:
        yield database


def _lock(game: str, expected_rows: int | None = 1) -> Stmt:
    return Stmt("tiers.insert_lock", {"environment": "test", "tier_id": "bronze", "game_id": game}, expected_rows)


def _unlock(game: str, expected_rows: int | None = 1) -> Stmt:
    return Stmt("tiers.delete_lock", {"environment": "test", "tier_id": "bronze", "game_id": game}, expected_rows)


def _tx(*stmts: Stmt) -> Tx:
    return Tx("platform", stmts)


def _locked(database: Database) -> set[str]:
    return {game for _, _, game in database.reader.all("tiers.locks")}


async def _submit(database: Database, tx: Tx) -> Outcome | Exception:
    try:
        return await database.writer.submit(tx)
    except Exception as error:
        return error


async def _submit_all(database: Database, *txs: Tx) -> list[Outcome | Exception]:
    """Submit all at once; return what became of each, in their order."""
    outcomes: dict[int, Outcome | Exception] = {}

    async def one(number: int, tx: Tx) -> None:
        outcomes[number] = await _submit(database, tx)

    async with trio.open_nursery() as nursery:
        for number, tx in enumerate(txs):
            nursery.start_soon(one, number, tx)
    return [outcomes[number] for number in range(len(txs))]


async def _submit_as_one_group(database: Database, faults: Faults, *txs: Tx) -> list[Outcome | Exception]:
    """Let all of them queue behind a commit that is held up, so that the writer takes them as one group."""
    outcomes: list[Outcome | Exception] = []
    with faults.hold("delete from tier_lock") as release:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_submit, database, _tx(_unlock("nothing", None)))
            await _until(lambda: faults.count("delete from tier_lock") > 0)

            async def rest() -> None:
                outcomes.extend(await _submit_all(database, *txs))

            nursery.start_soon(rest)
            await _until(lambda: database.writer.waiting == 1 + len(txs))
            faults.statements.clear()
            release.set()
    return outcomes


async def _until_real(condition: Callable[[], bool]) -> None:
    """Wait for a thread while trio's clock stands still."""
    for _ in range(30_000):
        if condition():
            return
        await trio.to_thread.run_sync(time.sleep, 0.001)
    raise AssertionError("it never came true")


async def _until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(30):
        while not condition():  # noqa: ASYNC110  nothing in a thread under test could set an event of trio's
            await trio.sleep(0.001)


# --- outcomes ------------------------------------------------------------------------------------------------------------------


@INLINE
async def test_a_committed_write_is_read_at_once(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        assert _locked(database) == set()
        assert await database.writer.submit(_tx(_lock("chess"), _lock("reversi"))) is Outcome.COMMITTED
        assert _locked(database) == {"chess", "reversi"}
        assert database.reader.one("terms.newest_terms") is not None


@INLINE
async def test_a_unique_index_that_disagrees_is_a_conflict_and_nothing_is_done(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        await database.writer.submit(_tx(_lock("chess")))
        assert await database.writer.submit(_tx(_lock("reversi"), _lock("chess"))) is Outcome.CONFLICT
        assert _locked(database) == {"chess"}


@INLINE
async def test_a_statement_that_touches_other_rows_than_expected_is_a_conflict_and_nothing_is_done(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        assert await database.writer.submit(_tx(_lock("chess"), _unlock("reversi"))) is Outcome.CONFLICT
        assert _locked(database) == set()
        assert await database.writer.submit(_tx(_lock("chess"), _unlock("reversi", None))) is Outcome.COMMITTED
        assert await database.writer.submit(_tx(_unlock("reversi", 0))) is Outcome.COMMITTED


@INLINE
async def test_a_statement_that_the_disk_refuses_fails_the_write_and_nothing_is_done(tmp_path: Path, faults: Faults, inline: bool) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("delete from tier_lock", sqlite3.OperationalError("database or disk is full"))
        with pytest.raises(WriteFailed, match="disk is full"):
            await database.writer.submit(_tx(_lock("chess"), _unlock("chess")))
        assert _locked(database) == set()
        faults.heal()
        assert await database.writer.submit(_tx(_lock("chess"))) is Outcome.COMMITTED


@INLINE
async def test_a_transaction_that_cannot_begin_fails_and_nothing_is_done(tmp_path: Path, faults: Faults, inline: bool) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("begin immediate")
        with pytest.raises(WriteFailed):
            await database.writer.submit(_tx(_lock("chess")))
        assert _locked(database) == set()


@INLINE
@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
async def test_a_commit_that_fails_leaves_the_outcome_unknown(tmp_path: Path, faults: Faults, inline: bool, landed: bool) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        faults.fail("commit", after=landed)
        with pytest.raises(OutcomeUnknown, match="disk I/O error"):
            await database.writer.submit(_tx(_lock("chess")))
        assert _locked(database) == ({"chess"} if landed else set())
        faults.heal()
        assert await database.writer.submit(_tx(_lock("reversi"))) is Outcome.COMMITTED


@INLINE
@pytest.mark.parametrize(
    ("stmt", "error"),
    [
        (Stmt("tiers.no_such_query", {}), KeyError),
        (Stmt("tiers.insert_lock", {"environment": "test"}), sqlite3.ProgrammingError),
        (Stmt("tiers.insert_lock", {"environment": "moon", "tier_id": "a", "game_id": "b"}), sqlite3.IntegrityError),
        (Stmt("tiers.insert_lock", {"environment": "test", "tier_id": 2**63, "game_id": "b"}), OverflowError),
        (Stmt("tiers.locks", {}), TypeError),
    ],
    ids=["unknown name", "missing parameter", "broken check", "too great a number", "a select"],
)
async def test_a_bug_in_a_statement_is_no_outage(tmp_path: Path, inline: bool, stmt: Stmt, error: type[Exception]) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        with pytest.raises(error):
            await database.writer.submit(_tx(_lock("chess"), stmt))
        assert _locked(database) == set()
        assert await database.writer.submit(_tx(_lock("chess"))) is Outcome.COMMITTED


# --- groups --------------------------------------------------------------------------------------------------------------------


@INLINE
async def test_writes_of_the_same_moment_share_one_commit(tmp_path: Path, faults: Faults, inline: bool) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        txs = [_tx(_lock(f"game-{number}")) for number in range(100)]
        if inline:
            outcomes = await _submit_all(database, *txs)
        else:
            outcomes = await _submit_as_one_group(database, faults, *txs)
        assert outcomes == [Outcome.COMMITTED] * 100
        # In-line, whatever one round of the event loop submits is a group; a thread first ends the commit that it held up.
        assert faults.count("commit") == (1 if inline else 2)
        assert len(_locked(database)) == 100


async def test_a_group_has_a_limit(threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "GROUP_LIMIT", 40)
    outcomes = await _submit_as_one_group(threaded, faults, *[_tx(_lock(f"game-{number}")) for number in range(100)])
    assert outcomes == [Outcome.COMMITTED] * 100
    assert faults.count("commit") == 1 + 3


@INLINE
async def test_writes_are_committed_in_the_order_in_which_they_came(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        came: list[str] = []

        async def lock(game: str) -> None:
            came.append(game)
            await database.writer.submit(_tx(_lock(game)))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(lock, f"game-{number}")
        connection = sqlite3.connect(database.path)
        assert [game for (game,) in connection.execute("select game_id from tier_lock order by rowid")] == came
        connection.close()


async def test_a_write_that_fails_in_a_group_fails_alone(threaded: Database, faults: Faults) -> None:
    threaded.start()
    faults.fail("update tier set")
    outcomes = await _submit_as_one_group(
        threaded,
        faults,
        _tx(_lock("a")),
        _tx(_lock("a")),
        _tx(_lock("b"), _unlock("c")),
        _tx(_lock("d"), Stmt("tiers.no_such_query", {})),
        _tx(_lock("e")),
    )
    assert {outcomes[0], outcomes[1]} == {Outcome.COMMITTED, Outcome.CONFLICT}
    assert outcomes[2] is Outcome.CONFLICT
    assert isinstance(outcomes[3], KeyError)
    assert outcomes[4] is Outcome.COMMITTED
    assert _locked(threaded) == {"a", "e"}
    assert faults.count("commit") == 1 + 2


@INLINE
async def test_a_commit_that_fails_leaves_the_outcome_of_the_whole_group_unknown(tmp_path: Path, faults: Faults, inline: bool) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        txs = [_tx(_lock(f"game-{number}")) for number in range(5)]
        faults.fail("commit", skip=0 if inline else 1)
        outcomes = await (_submit_all(database, *txs) if inline else _submit_as_one_group(database, faults, *txs))
        assert [type(result) for result in outcomes] == [OutcomeUnknown] * 5
        assert len({id(result) for result in outcomes}) == 5, "callers would share one traceback"
        assert _locked(database) == set()
        faults.heal()
        assert await _submit_all(database, *txs) == [Outcome.COMMITTED] * 5


# --- bounds and stalls ---------------------------------------------------------------------------------------------------------


async def test_a_full_queue_is_an_answer_and_nothing_is_done(threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "QUEUE_LIMIT", 3)
    with faults.hold("commit") as release:
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(_submit, threaded, _tx(_lock(f"game-{number}")))
            await _until(lambda: threaded.writer.waiting == 3)
            with pytest.raises(WriterFull):
                await threaded.writer.submit(_tx(_lock("late")))
            release.set()
    assert _locked(threaded) == {"game-0", "game-1", "game-2"}
    assert await threaded.writer.submit(_tx(_lock("late"))) is Outcome.COMMITTED


async def test_a_stalled_disk_is_noticed_and_so_is_its_recovery(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "STALLED_AFTER_S", 0.05)
    outcomes: list[Outcome | Exception] = []

    async def submit(game: str) -> None:
        outcomes.append(await _submit(threaded, _tx(_lock(game))))

    with faults.hold("commit") as release:
        async with trio.open_nursery() as nursery:
            assert not threaded.writer.stalled()
            nursery.start_soon(submit, "a")
            await _until(lambda: faults.count("commit") == 1)
            nursery.start_soon(submit, "b")
            await _until(threaded.writer.stalled)
            assert outcomes == []
            assert _locked(threaded) == set(), "readers do not wait for the disk"
            release.set()
    assert outcomes == [Outcome.COMMITTED] * 2
    assert not threaded.writer.stalled()


async def test_the_age_of_a_stall_is_that_of_the_oldest_write_that_still_waits(
    threaded: Database, faults: Faults, mock_clock: trio.testing.MockClock
) -> None:
    threaded.start()
    seconds = writer_module.STALLED_AFTER_S
    with faults.hold("insert into tier_lock") as first, faults.hold("delete from tier_lock") as second:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_submit, threaded, _tx(_lock("a")))
            await _until_real(lambda: faults.count("insert into tier_lock") == 1)
            mock_clock.jump(seconds)
            assert not threaded.writer.stalled()
            nursery.start_soon(_submit, threaded, _tx(_unlock("a")))
            await _until_real(lambda: threaded.writer.waiting == 2)
            mock_clock.jump(1)
            assert threaded.writer.stalled()
            first.set()
            await _until_real(lambda: threaded.writer.waiting == 1)
            assert not threaded.writer.stalled(), "the younger write has waited for a second only"
            mock_clock.jump(seconds)
            assert threaded.writer.stalled()
            second.set()
    assert not threaded.writer.stalled()


async def test_a_caller_who_stops_waiting_stops_no_write(threaded: Database, faults: Faults) -> None:
    threaded.start()
    with faults.hold("commit") as release, trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_submit, threaded, _tx(_lock("a")))
            await _until(lambda: faults.count("commit") == 1)
            scope.cancel()
    assert scope.cancelled_caught
    assert release.is_set()
    await _until(lambda: threaded.writer.waiting == 0)
    assert _locked(threaded) == {"a"}


@INLINE
async def test_a_caller_who_was_cancelled_before_writes_nothing(tmp_path: Path, inline: bool) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        with trio.CancelScope() as scope:
            scope.cancel()
            await database.writer.submit(_tx(_lock("a")))
        assert scope.cancelled_caught
        assert database.writer.waiting == 0
        await database.writer.submit(_tx(_lock("b")))
        assert _locked(database) == {"b"}


# --- the end of the writer -----------------------------------------------------------------------------------------------------


async def test_closing_finishes_what_has_queued(tmp_path: Path, faults: Faults) -> None:
    with open_store(tmp_path, faults, inline=False) as database:
        database.start()
        with faults.hold("commit") as release, trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                for number in range(20):
                    nursery.start_soon(_submit, database, _tx(_lock(f"game-{number}")))
                await _until(lambda: database.writer.waiting == 20 and faults.count("commit") == 1)
                threading.Timer(0.05, release.set).start()
                database.close()
                scope.cancel()
    connection = sqlite3.connect(database.path)
    assert connection.execute("select count(*) from tier_lock").fetchone() == (20,)
    connection.close()


def test_closing_after_the_run_finishes_what_nobody_waits_for_any_more(tmp_path: Path, faults: Faults) -> None:
    database = Database(tmp_path, factory=faults.factory)
    faults.statements.clear()

    async def leave_writes_behind() -> None:
        database.start()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_submit, database, _tx(_lock("a")))
                await _until(lambda: faults.count("commit") == 1)
                nursery.start_soon(_submit, database, _tx(_lock("b")))
                await _until(lambda: database.writer.waiting == 2)
                scope.cancel()

    with faults.hold("commit"):
        trio.run(leave_writes_behind)
    database.close()
    with open_store(tmp_path) as again:
        assert _locked(again) == {"a", "b"}


async def test_closing_finishes_what_has_queued_in_line_too(tmp_path: Path) -> None:
    with open_store(tmp_path) as database:
        submit = database.writer.submit(_tx(_lock("a")))
        submit.send(None)  # it is in the queue now, and lets others run
        database.close()
        submit.close()
    with open_store(tmp_path) as again:
        assert _locked(again) == {"a"}


async def test_a_write_after_closing_is_refused(tmp_path: Path) -> None:
    for inline in (True, False):
        database = Database(tmp_path, inline=inline)
        database.start()
        database.close()
        with pytest.raises(WriteFailed):
            await database.writer.submit(_tx(_lock("a")))


async def test_a_writer_that_was_never_started_is_a_bug_and_not_a_long_wait(threaded: Database) -> None:
    with pytest.raises(RuntimeError, match="not started"):
        await threaded.writer.submit(_tx(_lock("a")))


async def test_a_disk_that_hangs_does_not_keep_the_process_from_ending(
    tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "CLOSE_GRACE_S", 0.05)
    database = Database(tmp_path, factory=faults.factory)
    faults.statements.clear()
    database.start()
    with faults.hold("commit") as release:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_submit, database, _tx(_lock("a")))
                await _until(lambda: faults.count("commit") == 1)
                scope.cancel()
        database.close()
        with pytest.raises(DataFolderInUse):
            Database(tmp_path)  # the commit may still land: nobody else may write yet
        release.set()
    monkeypatch.setattr(writer_module, "CLOSE_GRACE_S", 30)
    database.close()
    with open_store(tmp_path) as again:
        assert _locked(again) == {"a"}


@INLINE
async def test_an_unforeseen_error_in_the_writer_leaves_nobody_waiting(
    tmp_path: Path, inline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()

        def broken(*_: object) -> None:
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(database.writer, "_commit", broken)
            outcomes = await _submit_all(database, _tx(_lock("a")), _tx(_lock("b")))
        assert [type(result) for result in outcomes] == [OutcomeUnknown] * 2
        assert await database.writer.submit(_tx(_lock("c"))) is Outcome.COMMITTED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_the_death_of_the_writer_is_told_to_all_who_wait_and_all_who_come(
    threaded: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "GROUP_LIMIT", 2)
    threaded.start()

    def die(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(threaded.writer, "_settle", die)
    outcomes = await _submit_all(threaded, *[_tx(_lock(f"game-{number}")) for number in range(5)])
    assert {type(result) for result in outcomes} <= {OutcomeUnknown, WriteFailed}
    await _until(threaded.writer.stalled)
    with pytest.raises(WriteFailed):
        await threaded.writer.submit(_tx(_lock("late")))


async def test_a_log_that_cannot_be_written_changes_no_outcome(threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    class BrokenPipe:
        def error(self, *_: object, **__: object) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(writer_module, "log", BrokenPipe())
    threaded.start()
    faults.fail("delete from tier_lock")
    outcomes = await _submit_all(threaded, _tx(_lock("a")), _tx(_unlock("b")), _tx(_lock("c")))
    assert [type(result) for result in outcomes] == [Outcome, WriteFailed, Outcome]


# --- reading -------------------------------------------------------------------------------------------------------------------


async def test_a_read_that_fails_says_of_what(tmp_path: Path, faults: Faults) -> None:
    with open_store(tmp_path, faults) as database:
        faults.fail("select")
        with pytest.raises(ReadFailed) as failed:
            database.reader.all("tiers.locks")
        assert failed.value.noun == "tiers"
        with pytest.raises(ReadFailed) as failed:
            database.reader.one("seats.find_head", partner_id="p", environment="test")
        assert failed.value.noun == "seats"


def test_a_read_with_a_missing_parameter_is_a_bug_and_no_outage(tmp_path: Path) -> None:
    with open_store(tmp_path) as database, pytest.raises(sqlite3.ProgrammingError):
        database.reader.one("seats.find_head", partner_id="p")


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with open_store(tmp_path) as database, pytest.raises(StoreOutage, match="readonly"):
        database.reader.one("tiers.insert_lock", environment="test", tier_id="bronze", game_id="chess")


async def test_a_second_reader_reads_on_a_thread_of_its_own(tmp_path: Path) -> None:
    with open_store(tmp_path) as database:
        await database.writer.submit(_tx(_lock("chess")))
        reader = database.second_reader()
        assert await trio.to_thread.run_sync(reader.all, "tiers.locks") == [("test", "bronze", "chess")]
        reader.close()


# --- the folder ----------------------------------------------------------------------------------------------------------------


def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    """FULL is 2. With NORMAL a write-ahead log may lose its last commits."""
    for query_only in (False, True):
        connection = connect(tmp_path / "pgs.db", query_only=query_only)
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        assert connection.execute("pragma synchronous").fetchone() == (2,)
        assert connection.execute("pragma query_only").fetchone() == (int(query_only),)
        assert connection.isolation_level is None
        connection.close()


def test_a_file_that_is_no_database_is_an_outage_and_leaves_no_lock(tmp_path: Path) -> None:
    (tmp_path / "pgs.db").write_bytes(b"this is no database, whatever its name says" * 100)
    for _ in range(2):
        with pytest.raises(StoreOutage, match="not a database"):
            Database(tmp_path)


def test_a_folder_that_is_open_cannot_be_opened_again(tmp_path: Path) -> None:
    with open_store(tmp_path), pytest.raises(DataFolderInUse):
        Database(tmp_path)
    Database(tmp_path).close()


def test_another_process_cannot_open_a_folder_that_is_in_use(tmp_path: Path) -> None:
    script = """
import pathlib, sys
from pgs.storage.database import Database, DataFolderInUse
try:
    Database(pathlib.Path(sys.argv[1]))
except DataFolderInUse:
    sys.exit(9)
"""

    def open_elsewhere() -> int:
        return subprocess.run([sys.executable, "-c", script, tmp_path], check=False).returncode

    with open_store(tmp_path):
        assert open_elsewhere() == 9
    assert open_elsewhere() == 0


def test_a_new_folder_and_its_files_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    mask = os.umask(0)
    try:
        with open_store(folder):
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    finally:
        os.umask(mask)
    assert modes == {"data": 0o700, "lock": 0o600, "pgs.db": 0o600, "pgs.db-wal": 0o600, "pgs.db-shm": 0o600}
