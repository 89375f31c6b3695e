"""Each named query is valid SQL for the migrated schema."""

import re
import sqlite3
from pathlib import Path

import pytest

from pgs.storage.columns import CHANGES, COLUMNS, SUMS, expand
from pgs.storage.queries import FOLDER, QUERIES, load
from tests.storage.statements import sql_of


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_prepares_against_the_schema(connection: sqlite3.Connection, name: str) -> None:
    sql = sql_of(name)
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql))
    assert connection.execute(f"explain {sql}", parameters).fetchall()


def test_every_block_of_every_file_is_a_query() -> None:
    blocks = {
        f"{path.stem}.{name}"
        for path in FOLDER.glob("*.sql")
        for name in re.findall(r"^-- name: (\w+)", path.read_text(), re.MULTILINE)
    }
    assert blocks == set(QUERIES)


def test_two_files_may_have_a_query_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "cats.sql").write_text("-- name: find^\nselect 'cat';\n")
    (tmp_path / "dogs.sql").write_text("-- name: find^\nselect 'dog';\n")
    queries = load(tmp_path)
    connection = sqlite3.connect(":memory:")
    assert queries["cats.find"](connection) == ("cat",)
    assert queries["dogs.find"](connection) == ("dog",)
    connection.close()


# Only the statements of invoices name this column: no other code may read or write it.
LISTED_NOWHERE = {"totals": {"invoice_id"}}


@pytest.mark.parametrize("table", COLUMNS)
def test_a_list_of_columns_names_every_column_of_its_table(
    connection: sqlite3.Connection, table: str
) -> None:
    rows = connection.execute("select name from pragma_table_info(?)", (table,)).fetchall()
    named = {name for (name,) in rows} - LISTED_NOWHERE.get(table, set())
    assert sorted(COLUMNS[table]) == sorted(named)


@pytest.mark.parametrize("lists", [CHANGES, SUMS])
def test_a_list_of_columns_that_a_statement_changes_is_a_part_of_its_tables_columns(
    lists: dict[str, tuple[str, ...]],
) -> None:
    for table, columns in lists.items():
        assert set(columns) < set(COLUMNS[table])


def test_placeholders_for_columns_are_expanded() -> None:
    assert "insert into match (partner_id, " in expand("insert into match ({columns of match})")
    assert expand("{values of match}").startswith(":partner_id, :environment, ")
    assert expand("{changes of match}").startswith("status = :status, ")
    assert expand("{sums of totals}").startswith("matches = totals.matches + excluded.matches, ")
    assert expand("{summed totals}").startswith("cast(coalesce(sum(matches), 0) as bigint), ")
    assert expand("{figures of totals}").startswith("matches, no_contests, ")
    assert expand("{unequal totals}").startswith("sum(matches) <> 0 or sum(no_contests) <> 0")
