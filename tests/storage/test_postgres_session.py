"""The writer's session asks for durable commits; a database that refuses it says why."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pgs.storage.data_folder import DataRefused
from pgs.storage.database_mark import Mark, write_mark
from pgs.storage.migrations import POSTGRES
from pgs.storage.postgres import copying
from pgs.storage.postgres import session as rules
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.identity import accept_loss
from pgs.storage.postgres.migrating import has_schema, migrate, migrations_of
from pgs.storage.postgres.session import DatabaseInUse, WriterSession
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import StoreOutage
from tests.virtual import START

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with closing(Connection(connect(url, "pgs test"), lambda _: None)) as opened:
        yield opened


def run(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())


def test_a_server_that_confirms_commits_early_is_asked_to_confirm_them_on_disk(url: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    run(url, f"alter database {name} set synchronous_commit = off")
    with closing(WriterSession(url, "pgs test", 1)) as session:
        assert session.connection.command("show synchronous_commit") == [("on",)]


def test_a_role_that_may_not_lock_is_refused_and_leaves_no_session(url: str) -> None:
    run(url, "do $$ begin create role guest login; exception when duplicate_object then end $$")
    run(url, "revoke execute on function pg_try_advisory_lock(int, int) from public")
    with pytest.raises(StoreOutage, match="refuses this session: permission denied"):
        WriterSession(url.replace("pgs@", "guest@"), "pgs guest", 1)
    WriterSession(url, "pgs test", 1).close()


def test_an_older_session_that_does_not_end_keeps_the_next_one_out(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "TRIES", 2)
    with closing(WriterSession(url, "pgs test", 1)) as older:
        pid = older.connection.opened.backend_pid
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(DatabaseInUse, match="does not end"):
                WriterSession(url, "pgs test", 2)
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.fixture
def slow_ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Connection]]:
    """Connections that were closed, while the server has not noticed it yet."""
    closed: list[Connection] = []
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "close", lambda connection: closed.append(connection))
        yield closed
    for connection in closed:
        connection.close()


def test_another_service_starts_while_the_server_still_ends_the_last_ones_session(
    url: str, tmp_path: Path, slow_ends: list[Connection]
) -> None:
    for node in ("", "n1", ""):
        with closing(PostgresDatabase(url, tmp_path / f"of {len(slow_ends)}", node=node)):
            pass
    assert len(slow_ends) >= 3


def test_a_service_starts_while_the_server_still_ends_the_session_of_a_copy(
    url: str, tmp_path: Path, slow_ends: list[Connection]
) -> None:
    with closing(SqliteDatabase(tmp_path / "data", inline=True)):
        pass
    copying.to_server(tmp_path / "data", url)
    accept_loss(url, tmp_path / "accepted", START)
    (tmp_path / "keys").write_text("the keys")
    copying.from_server(url, tmp_path / "back", tmp_path / "keys")
    with closing(PostgresDatabase(url, tmp_path / "accepted", inline=True)):
        assert len(slow_ends) >= 3


def test_a_loss_is_accepted_while_the_server_still_ends_the_session_of_a_refused_start(
    url: str, tmp_path: Path, slow_ends: list[Connection]
) -> None:
    with closing(PostgresDatabase(url, tmp_path / "first", inline=True)):
        pass
    write_mark(tmp_path, Mark("closed", 1, 1))
    with pytest.raises(DataRefused):
        PostgresDatabase(url, tmp_path, inline=True)
    accept_loss(url, tmp_path, START)
    with closing(PostgresDatabase(url, tmp_path, inline=True)):
        assert len(slow_ends) >= 4


def test_a_session_ends_although_the_server_does_not_take_its_locks_back(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "SILENT_S", 0.1)
    with closing(WriterSession(url, "pgs test", 1)) as session:
        pid = session.connection.opened.backend_pid
        os.kill(pid, signal.SIGSTOP)
        try:
            session.release()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert session.connection.is_lost


def test_a_migration_that_fails_is_undone_and_runs_once_it_is_repaired(
    connection: Connection, tmp_path: Path
) -> None:
    for path in POSTGRES.glob("*.sql"):
        (tmp_path / path.name).write_text(path.read_text())
    last = tmp_path / "9999_last.sql"
    last.write_text("create table first (n bigint);\ncreate table second (n nonsense);\n")
    with pytest.raises(StoreOutage, match="cannot be brought up to date"):
        migrate(connection, tmp_path)
    assert "9999_last" not in migrations_of(connection)
    assert connection.command("select to_regclass('first')") == [(None,)]
    last.write_text("create table first (n bigint);\n")
    assert migrate(connection, tmp_path) == ["9999_last"]
    assert has_schema(connection)


def test_a_migration_during_which_the_session_ends_is_not_recorded(
    url: str, connection: Connection, tmp_path: Path
) -> None:
    (tmp_path / "0001_end.sql").write_text(
        "create table first (n bigint);\nselect pg_terminate_backend(pg_backend_pid());\n"
    )
    with pytest.raises(StoreOutage, match=r"terminating|closed"):
        migrate(connection, tmp_path)
    with closing(Connection(connect(url, "pgs test"), lambda _: None)) as later:
        assert migrations_of(later) == []
        assert later.command("select to_regclass('first')") == [(None,)]
