"""PostgreSQL has SQLite's schema and the tables of nodes, and takes every statement of both."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from pgs.storage import migrations
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.statements import PLAIN, counting
from pgs.storage.queries import STATEMENTS
from tests.postgres import Server

NAMES = [path.name for path in sorted(migrations.FOLDER.glob("*.sql"))]
NODES = "0003_nodes.sql"
"""The migration that only PostgreSQL has: a database of SQLite belongs to one process."""
TABLES_OF_NODES = ("node", "shard")
WRITES = [
    name
    for name, statement in STATEMENTS.items()
    if re.match(r"(--[^\n]*\n|\s)*(insert|update|delete)\b", statement.text)
    and "returning" not in statement.text
]


@pytest.fixture(scope="module")
def schema(
    postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[psycopg.Connection[Any]]:
    url = postgres.new_database()
    PostgresDatabase(url, tmp_path_factory.mktemp("schema"), inline=True).close()
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def _said(path: Path) -> str:
    """Return a migration on one line, without its comments and its `collate "C"`."""
    text = re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8")).replace(' collate "C"', "")
    return " ".join(text.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_migration_says_the_same_to_both_engines(name: str) -> None:
    assert _said(migrations.POSTGRES / name) == _said(migrations.FOLDER / name)


def test_both_engines_have_the_same_migrations_but_that_of_the_nodes() -> None:
    names = {path.name for path in migrations.POSTGRES.glob("*.sql")}
    assert names == {*NAMES, NODES}
    made = re.findall(r"create (\w+) (\w+)", _said(migrations.POSTGRES / NODES))
    assert [name for kind, name in made if kind == "table"] == list(TABLES_OF_NODES)
    assert {kind for kind, _ in made} == {"table", "sequence"}


def _rows(connection: apsw.Connection, query: str, *values: str) -> Any:
    return connection.execute(query, values).fetchall()


@pytest.mark.postgres
@pytest.mark.slow
def test_tables_columns_and_keys_are_those_of_sqlite(
    schema: psycopg.Connection[Any], connection: apsw.Connection
) -> None:
    tables = "select name from sqlite_master where type = 'table'"
    columns = "select * from pragma_table_info(?)"
    expected = {
        (table, name, kind.lower(), key > 0 or bool(required), key)
        for (table,) in _rows(connection, tables)
        for _, name, kind, required, _, key in _rows(connection, columns, table)
    }
    found = schema.execute(
        "select c.table_name, c.column_name, c.data_type, c.is_nullable = 'NO', "
        "coalesce(array_position(i.indkey::int[], c.ordinal_position::int) + 1, 0) "
        "from information_schema.columns c left join pg_index i "
        "on i.indrelid = c.table_name::regclass and i.indisprimary "
        "where c.table_schema = 'public'"
    ).fetchall()
    assert {row for row in found if row[0] not in TABLES_OF_NODES} == expected
    assert {row[0] for row in found} >= set(TABLES_OF_NODES)


@pytest.mark.postgres
@pytest.mark.slow
def test_every_text_is_compared_byte_by_byte(schema: psycopg.Connection[Any]) -> None:
    others = schema.execute(
        "select table_name, column_name from information_schema.columns "
        "where table_schema = 'public' and data_type = 'text' "
        "and collation_name is distinct from 'C'"
    ).fetchall()
    assert others == []


@pytest.mark.postgres
@pytest.mark.slow
def test_indexes_and_constraints_are_those_of_sqlite(
    schema: psycopg.Connection[Any], connection: apsw.Connection
) -> None:
    expected = {
        (table, name, bool(unique), bool(partial))
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'")
        for _, name, unique, origin, partial in connection.execute(
            "select * from pragma_index_list(?)", (table,)
        ).fetchall()
        if origin == "c"
    }
    found = schema.execute(
        "select i.indrelid::regclass::text, i.indexrelid::regclass::text, i.indisunique, "
        "i.indpred is not null from pg_index i join pg_class c on c.oid = i.indexrelid "
        "join pg_namespace n on n.oid = c.relnamespace "
        "where n.nspname = 'public' and not i.indisprimary"
    ).fetchall()
    of_nodes = {("node", "node_number_key", True, False)}  # of its `unique`
    assert {(table.strip('"'), *rest) for table, *rest in found} == expected | of_nodes
    paths = sorted(migrations.POSTGRES.glob("*.sql"))
    checks = sum(_said(path).count("check (") for path in paths)
    assert schema.execute("select count(*) from pg_constraint where contype = 'c'").fetchone() == (
        checks + _checks_of_the_server(schema),
    )


def _checks_of_the_server(schema: psycopg.Connection[Any]) -> int:
    row = schema.execute(
        "select count(*) from pg_constraint c join pg_namespace n on n.oid = c.connamespace "
        "where c.contype = 'c' and n.nspname <> 'public'"
    ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_postgresql_prepares_every_statement(schema: psycopg.Connection[Any], name: str) -> None:
    result = schema.pgconn.prepare(b"", PLAIN[name].text)
    assert result.status == psycopg.pq.ExecStatus.COMMAND_OK, result.error_message


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(WRITES))
def test_postgresql_prepares_every_write_that_counts_its_rows(
    schema: psycopg.Connection[Any], name: str
) -> None:
    result = schema.pgconn.prepare(b"", counting(name, 1).text)
    assert result.status == psycopg.pq.ExecStatus.COMMAND_OK, result.error_message


def test_only_a_plain_insert_is_sent_without_a_count_of_its_rows() -> None:
    uncounted = {name for name in WRITES if not counting(name, 1).counts}
    assert "seats.insert_seat" in uncounted
    assert {
        name
        for name in uncounted
        if re.search(r"\b(update|delete|on conflict)\b", STATEMENTS[name].text)
        or not re.search(r"\bvalues\b", STATEMENTS[name].text)
    } == set()
    assert counting("tiers.insert_lock", 2).counts
