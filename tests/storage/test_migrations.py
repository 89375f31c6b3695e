"""Each migration is applied once, either completely or not at all."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from pgs.storage.migrations import FOLDER, SchemaNewer, migrate, statements
from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside
from tests.virtual import Faults


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = open_beside(tmp_path / "schema.db")
    yield connection
    connection.close()


def _tables(connection: apsw.Connection) -> set[str]:
    return {
        name
        for (name,) in connection.execute("select name from sqlite_master where type = 'table'")
    }


def _write(folder: Path, **scripts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, script in scripts.items():
        (folder / f"{name}.sql").write_text(script)
    return folder


def test_every_migration_is_applied_once_in_the_order_of_its_number(
    connection: apsw.Connection,
) -> None:
    names = [path.stem for path in sorted(FOLDER.glob("*.sql"))]
    assert migrate(connection) == names
    assert names[0].startswith("0001_")
    assert migrate(connection) == []


def test_only_migrations_that_are_new_to_a_database_are_applied(
    connection: apsw.Connection, tmp_path: Path
) -> None:
    folder = _write(tmp_path / "sql", one="create table a (x bigint);\n")
    assert migrate(connection, folder) == ["one"]
    _write(folder, two="alter table a add column y bigint;\n")
    assert migrate(connection, folder) == ["two"]
    connection.execute("insert into a (x, y) values (1, 2)")


def test_a_failed_migration_is_undone_and_those_before_it_are_kept(
    connection: apsw.Connection, tmp_path: Path
) -> None:
    folder = _write(
        tmp_path / "sql",
        one="create table a (x bigint);\n",
        two="create table b (x bigint);\ninsert into nowhere values (1);\n",
    )
    with pytest.raises(apsw.SQLError, match="nowhere"):
        migrate(connection, folder)
    assert _tables(connection) == {"migration", "a"}
    assert not connection.in_transaction
    _write(folder, two="create table b (x bigint);\n")
    assert migrate(connection, folder) == ["two"]


def test_a_migration_that_cannot_be_recorded_is_undone(tmp_path: Path) -> None:
    """Otherwise the next start would apply the migration a second time."""
    faults = Faults()
    connection = faults.factory(str(tmp_path / "schema.db"))
    try:
        folder = _write(tmp_path / "sql", one="create table a (x bigint);\n")
        faults.fail("insert into migration")
        with pytest.raises(apsw.IOError, match="I/O"):
            migrate(connection, folder)
        assert _tables(connection) == {"migration"}
        faults.heal()
        assert migrate(connection, folder) == ["one"]
    finally:
        connection.close()


def test_a_database_of_a_newer_version_is_refused_untouched(
    connection: apsw.Connection, tmp_path: Path
) -> None:
    migrate(
        connection,
        _write(
            tmp_path / "new", one="create table a (x bigint);\n", two="create table b (x bigint);\n"
        ),
    )
    with pytest.raises(SchemaNewer, match="two"):
        migrate(connection, _write(tmp_path / "old", one="create table a (x bigint);\n"))


def test_a_newer_data_folder_is_not_left_locked(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path).close()
    with open_beside(tmp_path / "pgs.db") as connection:
        connection.execute("insert into migration (name) values ('9999_later')")
    connection.close()
    for _ in range(2):
        with pytest.raises(SchemaNewer, match="9999_later"):
            SqliteDatabase(tmp_path)


def test_a_semicolon_in_a_text_or_a_comment_ends_no_statement() -> None:
    script = (
        "-- first; of two:\ncreate table a (x text);\n"
        "insert into a values ('one;\ntwo');\n-- done;\n"
    )
    assert [statement.strip() for statement in statements(script)] == [
        "-- first; of two:\ncreate table a (x text);",
        "insert into a values ('one;\ntwo');",
        "-- done;",
    ]
