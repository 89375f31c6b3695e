"""The SQLite library of the process: its version, how it opens files, and what its errors mean."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from pgs.storage.sqlite.connections import connect, create_database
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import (
    is_bug,
    is_complete,
    is_damage,
    is_failed_sync,
    is_taken,
    opened,
)
from pgs.storage.transactions import ReadFailed

BUGS = {
    apsw.SQLITE_CONSTRAINT,
    apsw.SQLITE_MISMATCH,
    apsw.SQLITE_MISUSE,
    apsw.SQLITE_RANGE,
    apsw.SQLITE_TOOBIG,
}
FAULTS = {
    apsw.SQLITE_ABORT,
    apsw.SQLITE_BUSY,
    apsw.SQLITE_CANTOPEN,
    apsw.SQLITE_CORRUPT,
    apsw.SQLITE_EMPTY,
    apsw.SQLITE_ERROR,
    apsw.SQLITE_FULL,
    apsw.SQLITE_INTERNAL,
    apsw.SQLITE_INTERRUPT,
    apsw.SQLITE_IOERR,
    apsw.SQLITE_LOCKED,
    apsw.SQLITE_NOLFS,
    apsw.SQLITE_NOMEM,
    apsw.SQLITE_NOTADB,
    apsw.SQLITE_NOTFOUND,
    apsw.SQLITE_PERM,
    apsw.SQLITE_PROTOCOL,
    apsw.SQLITE_READONLY,
    apsw.SQLITE_SCHEMA,
}
OF_A_CALL = (
    apsw.BindingsError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.ExecutionCompleteError,
    apsw.IncompleteExecutionError,
    apsw.ThreadingViolationError,
)


def test_sqlite_has_no_fault_that_may_damage_a_write_ahead_log() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) > (3, 51, 3)


@pytest.mark.parametrize("code", sorted(BUGS | FAULTS))
def test_an_error_of_sqlite_is_a_bug_or_a_fault_of_the_machine(code: int) -> None:
    assert is_bug(apsw.exception_for(code)) == (code in BUGS)


@pytest.mark.parametrize("error", OF_A_CALL, ids=lambda error: error.__name__)
def test_a_wrong_call_is_a_bug(error: type[apsw.Error]) -> None:
    assert is_bug(error("a test said so"))


@pytest.mark.parametrize("value", [2**70, object(), "\ud800"], ids=["number", "type", "text"])
def test_a_value_that_sqlite_cannot_keep_is_a_bug(value: object) -> None:
    with closing(opened(":memory:", 0)) as connection:
        with pytest.raises((OverflowError, TypeError, UnicodeEncodeError)) as raised:
            connection.execute("select ?", (value,))
        assert is_bug(raised.value)


@pytest.mark.parametrize(
    ("sql", "taken"),
    [
        ("insert into t (id, name, size) values (1, 'b', 1)", True),
        ("insert into t (id, name, size) values (2, 'a', 1)", True),
        ("insert into t (rowid, id, name, size) values (7, 2, 'b', 1)", True),
        ("insert into t (id, name, size) values (2, 'b', null)", False),
        ("insert into t (id, name, size) values (2, 'b', 0)", False),
        ("insert into t (id, name, size) values (2, 'b', 'small')", False),
    ],
)
def test_only_a_key_that_another_row_has_is_taken(sql: str, taken: bool) -> None:
    with closing(opened(":memory:", 0)) as connection:
        connection.execute(
            "create table t (id text primary key, name text unique, size int not null"
            " check (size > 0)) strict"
        )
        connection.execute("insert into t (rowid, id, name, size) values (7, 1, 'a', 1)")
        with pytest.raises(apsw.Error) as raised:
            connection.execute(sql)
        assert is_taken(raised.value) is taken
        assert is_bug(raised.value)


def test_only_a_failed_sync_of_a_file_or_folder_counts_as_one() -> None:
    failed = (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC)
    others = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR, apsw.SQLITE_FULL)
    assert all(is_failed_sync(apsw.exception_for(code)) for code in failed)
    assert not any(is_failed_sync(apsw.exception_for(code)) for code in others)
    assert not is_failed_sync(OSError())


def test_a_damaged_file_is_known_by_every_code_of_damage() -> None:
    damaged = (apsw.SQLITE_CORRUPT, apsw.SQLITE_CORRUPT_INDEX, apsw.SQLITE_NOTADB)
    assert all(is_damage(apsw.exception_for(code)) for code in damaged)
    assert not is_damage(apsw.exception_for(apsw.SQLITE_IOERR))
    assert not is_damage(ValueError())


async def test_a_text_that_is_no_utf_8_is_a_failed_read_and_no_bug(tmp_path: Path) -> None:
    create_database(tmp_path / "pgs.db")
    connection = connect(tmp_path / "pgs.db")
    connection.execute("create table migration (name text)")
    connection.execute("create table heartbeat (name text, beats text)")
    connection.execute("insert into heartbeat values ('writes', cast(x'ff' as text))")
    reader = SqliteReader(connection)
    with pytest.raises(ReadFailed, match=r"heartbeat\.writes"):
        await reader.one("heartbeat.writes")
    assert await reader.still_fails()
    connection.execute("update heartbeat set beats = 'whole'")
    assert not await reader.still_fails()
    reader.close()


async def test_no_statement_stays_open_after_a_read_or_a_failed_read(tmp_path: Path) -> None:
    # An open statement would hold back the write-ahead log, and show later reads an earlier moment.
    create_database(tmp_path / "pgs.db")
    connection = connect(tmp_path / "pgs.db")
    connection.execute("create table heartbeat (name text, beats text)")
    connection.execute("insert into heartbeat values ('writes', '1'), ('writes', '2')")
    reader = SqliteReader(connection)
    assert await reader.one("heartbeat.writes") == ("1",)
    assert connection.txn_state() == apsw.SQLITE_TXN_NONE
    connection.execute("update heartbeat set beats = cast(x'ff' as text)")
    with pytest.raises(ReadFailed):
        await reader.one("heartbeat.writes")
    assert connection.txn_state() == apsw.SQLITE_TXN_NONE
    reader.close()


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(apsw.CantOpenError):
        opened((tmp_path / "missing.db").as_uri(), 0)
    assert not any(tmp_path.iterdir())


def test_a_name_that_is_no_utf_8_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9 100%.db"
    create_database(path)
    with closing(connect(path)) as connection:
        assert connection.execute("pragma application_id").get > 0


def test_a_statement_waits_for_a_lock_for_the_given_time(tmp_path: Path) -> None:
    create_database(tmp_path / "pgs.db")
    with (
        closing(opened((tmp_path / "pgs.db").as_uri(), 0.1)) as one,
        closing(opened((tmp_path / "pgs.db").as_uri(), 0.1)) as other,
    ):
        one.execute("begin immediate")
        with pytest.raises(apsw.BusyError, match="locked"):
            other.execute("begin immediate")
        one.execute("rollback")
        assert other.execute("pragma busy_timeout").get == 100
        other.execute("begin immediate")
        other.execute("rollback")


def test_a_plan_does_not_depend_on_the_values_of_its_parameters() -> None:
    """Otherwise SQLite prepares such a statement anew for each new value."""
    with closing(opened(":memory:", 0)) as connection:
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
        connection.execute("create table t (a text, b int)")
        connection.execute("create index i on t (a, b)")
        prepared = 0

        def note(*_: object) -> int:
            nonlocal prepared
            prepared += 1
            return apsw.SQLITE_OK

        connection.authorizer = note  # SQLite asks it while it prepares a statement
        query = "select b from t where a = ? order by b limit ?"
        assert connection.execute(query, ("one", 5)).fetchall() == []
        before = prepared
        assert connection.execute(query, ("two", 5)).fetchall() == []
        assert prepared == before > 0


def test_a_statement_ends_with_a_semicolon_outside_of_texts() -> None:
    assert is_complete("select 1;\n")
    assert not is_complete("select ';")
    assert not is_complete("select 1")
