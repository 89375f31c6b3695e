"""Each named query is valid SQL for the migrated schema."""

import re
from pathlib import Path
from typing import Any

import apsw
import apsw.ext
import msgspec
import pytest

from pgs.domain.invoices import Invoice
from pgs.domain.ledger import LedgerRow
from pgs.domain.matches import Match
from pgs.domain.seats import Seat
from pgs.http.partner.results import ResultRow
from pgs.storage.columns import CHANGES, COLUMNS, SUMS, expand
from pgs.storage.queries import FOLDER, QUERIES, STATEMENTS, load, positional
from pgs.storage.sqlite_driver import opened
from pgs.storage.transactions import Stmt
from tests.storage.statements import sql_of


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_prepares_against_the_schema(connection: apsw.Connection, name: str) -> None:
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


def test_parameters_are_bound_by_their_place_in_the_order_of_the_text(tmp_path: Path) -> None:
    sql = "-- name: find^\nselect :b, 'x:a', :a, :b, cast('7' as bigint), :c_2;\n"
    (tmp_path / "cats.sql").write_text(sql)
    statement = positional(load(tmp_path)["cats.find"])
    assert statement.values({"a": 1, "b": 2, "c_2": 3}) == (2, 1, 2, 3)
    connection = opened(":memory:", 0)
    found = connection.execute(statement.text, (2, 1, 2, 3)).fetchone()
    assert found == (2, "x:a", 1, 2, 7, 3)
    connection.close()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("seats.insert_seat", Seat),
        ("matches.insert_match", Match),
        ("ledger.insert_row", LedgerRow),
        ("invoices.insert_invoice", Invoice),
    ],
)
def test_an_insert_of_a_whole_row_binds_each_field_to_its_column(
    name: str, row: type[msgspec.Struct]
) -> None:
    made = row(*row.__struct_fields__)  # every field has its own name as value
    assert STATEMENTS[name].values(made) == tuple(re.findall(r":(\w+)", sql_of(name)))
    assert Stmt(name, made).named == {field: field for field in row.__struct_fields__}


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b"]])
def test_a_statement_may_have_any_number_of_parameters(names: list[str], tmp_path: Path) -> None:
    sql = ", ".join(["0", *(f":{name}" for name in names)])
    (tmp_path / "cats.sql").write_text(f"-- name: find^\nselect {sql};\n")
    statement = positional(load(tmp_path)["cats.find"])
    assert statement.values({"a": 1, "b": 2}) == (1, 2)[: len(names)]
    assert statement.one_row


def test_two_files_may_have_a_query_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "cats.sql").write_text("-- name: find^\nselect 'cat';\n")
    (tmp_path / "dogs.sql").write_text("-- name: find^\nselect 'dog';\n")
    queries = load(tmp_path)
    connection = opened(":memory:", 0)
    assert queries["cats.find"](connection) == ("cat",)
    assert queries["dogs.find"](connection) == ("dog",)
    connection.close()


# Only the statements of invoices name the one column, and the engine itself fills the other.
LISTED_NOWHERE = {"totals": {"invoice_id"}, "ledger": {"row_id"}}


@pytest.mark.parametrize("table", COLUMNS)
def test_a_list_of_columns_names_every_column_of_its_table(
    connection: apsw.Connection, table: str
) -> None:
    rows: Any = connection.execute("select name from pragma_table_info(?)", (table,)).fetchall()
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


def test_the_feeds_query_has_the_fields_of_its_rows_in_their_order(
    connection: apsw.Connection,
) -> None:
    page = STATEMENTS["results.page"]
    edges = {"partner_id": "acme", "environment": "test", "after": 0, "page_size": 1}
    found = apsw.ext.query_info(connection, page.text, page.values(edges)).description
    assert [column[0] for column in found] == [*ResultRow.__struct_fields__, "position"]
