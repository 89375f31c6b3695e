"""A page costs the same in a list of any length. A query of one partner reads no others' rows."""

import re
import sqlite3
from itertools import count

import pytest

from pgs.storage.migrations import migrate
from pgs.storage.queries import QUERIES
from tests.storage.statements import sql_of

LISTS = [
    "events.events_page",
    "invites.invites_page",
    "attempts.attempts_before",
    "seats.feed_page",
]


def plan_of(connection: sqlite3.Connection, name: str) -> list[str]:
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql_of(name)))
    return [row[3] for row in connection.execute(f"explain query plan {sql_of(name)}", parameters)]


OF_A_PARTNER = sorted(
    name for name in QUERIES if re.search(r"\bwhere (\w\.)?partner_id = :partner_id", sql_of(name))
)
"""The queries and statements of one partner. Queries over all partners have their own tests."""

PAGES = [name for name in OF_A_PARTNER if "limit :page_size" in sql_of(name)]


@pytest.mark.parametrize("name", OF_A_PARTNER)
def test_no_query_of_one_partner_scans_a_table(connection: sqlite3.Connection, name: str) -> None:
    steps = plan_of(connection, name)
    assert [step for step in steps if step.startswith("SCAN")] == []
    assert any(step.startswith("SEARCH") and "partner_id=?" in step for step in steps), steps


@pytest.mark.parametrize("name", PAGES)
def test_no_page_needs_a_sort(connection: sqlite3.Connection, name: str) -> None:
    assert [step for step in plan_of(connection, name) if "TEMP B-TREE" in step] == []


def test_the_tested_pages_include_the_admin_lists_and_the_feed() -> None:
    assert set(LISTS) <= set(PAGES)
    assert len(OF_A_PARTNER) > 30


def fill(connection: sqlite3.Connection, table: str, rows: int) -> None:
    """Insert rows of one partner into a table, with rising numbers and unique texts."""
    columns = [(row[1], row[2]) for row in connection.execute(f"pragma table_info({table})")]
    fixed: dict[str, object] = {
        "partner_id": "acme",
        "environment": "test",
        "role": "viewer",
        "status": "ended",
        "stake_status": "confirmed",
        "result": "won",
        "settlement": "embedded",
    }
    fixed |= {"delivered": 0, "test": 0, "accepted_by": None, "revoked_at": None}
    numbers = count(1)

    def row() -> list[object]:
        number = next(numbers)
        return [
            fixed.get(name, number if kind == "bigint" else f"{name}-{number}")
            for name, kind in columns
        ]

    connection.execute("begin")
    places = ", ".join("?" for _ in columns)
    insert = f"insert into {table} values ({places})"  # noqa: S608 - this test names the table
    connection.executemany(insert, (row() for _ in range(rows)))
    connection.execute("commit")


def steps_of(connection: sqlite3.Connection, name: str, **parameters: object) -> tuple[int, int]:
    """Return how many steps of SQLite's virtual machine a query takes, and how many rows it has."""
    steps = count()

    def step() -> int:
        next(steps)
        return 0

    needed = {"partner_id": "acme", "environment": "test", **parameters}
    connection.set_progress_handler(step, 1)
    found = len(connection.execute(sql_of(name), needed).fetchall())
    connection.set_progress_handler(None, 1)
    return next(steps), found


@pytest.mark.parametrize("name", LISTS)
def test_a_page_of_a_long_list_takes_as_many_steps_as_one_of_a_short_list(name: str) -> None:
    """Counts steps of SQLite's virtual machine for the first, a middle and the last page."""
    file = name.partition(".")[0]
    table = {"events": "event", "invites": "invite", "attempts": "attempt", "seats": "seat"}[file]
    taken = []
    for rows in (300, 30_000):
        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection)
        fill(connection, table, rows)
        for place in (rows, rows // 2, 150):
            edges = {
                "before": place,
                "after": rows - place,
                "since": 0,
                "page_size": 100,
                "with_invites": 0,
            }
            steps, found = steps_of(connection, name, **edges)
            assert found >= 99
            taken.append(steps / found)
        connection.close()
    assert max(taken) < 1.1 * min(taken), taken
