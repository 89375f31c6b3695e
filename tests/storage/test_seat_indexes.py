"""Which seats the indexes have that depend on recorded money, and how PostgreSQL uses them."""

import re
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from pgs.domain.seats import Seat
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.queries import STATEMENTS
from pgs.storage.seats import insert_seat
from pgs.storage.sqlite.connections import connect
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import Outcome
from tests.making import seat
from tests.storage.committing import commit
from tests.storage.played import Played
from tests.storage.statements import sql_of

AT = 1_800_000_000

ENTERED_WHEN_PAID = ("seat_changed", "seat_player", "seat_reference")


async def test_a_seat_enters_three_indexes_only_when_its_money_is_recorded(
    in_file: SqliteDatabase,
) -> None:
    connection = connect(in_file.path, query_only=True)

    def entries() -> tuple[Any, ...]:
        """Return the number of seats in the index of unrecorded money, and in the three others."""
        sql = "select coalesce(sum(ncell), 0) from dbstat where name = ? and pagetype = 'leaf'"
        names = ("seat_unrecorded", *ENTERED_WHEN_PAID)
        return tuple(connection.execute(sql, (name,)).fetchall()[0][0] for name in names)

    play = Played(in_file)
    await play.seat(AT, partner_ref="order-1")
    assert entries() == (0, 0, 0, 0)
    running = await play.start(AT, partner_ref="order-2")
    assert entries() == (2, 0, 0, 0)
    ended = await play.end(running, "ann", AT + 1)
    assert entries() == (2, 0, 0, 0)
    await play.pay(ended, AT + 2)
    assert entries() == (0, 2, 2, 2)
    await play.alone(AT + 3)
    assert entries() == (0, 3, 3, 2)
    connection.close()


def _explained(connection: apsw.Connection, name: str, how: str) -> list[Any]:
    """Return what SQLite says about a query: `how` is `explain` or `explain query plan`."""
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql_of(name)))
    return connection.execute(f"{how} {sql_of(name)}", parameters).fetchall()


def _plan(connection: apsw.Connection, name: str) -> list[str]:
    return [row[3] for row in _explained(connection, name, "explain query plan")]


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        (
            "moves.running_seats_of_player",
            "partner_id=? AND environment=? AND status=? AND player_id=?",
        ),
        ("seats.seats_in_play", "partner_id=? AND environment=? AND status=?"),
    ],
)
def test_running_seats_are_found_among_those_whose_money_is_not_recorded(
    connection: apsw.Connection, name: str, terms: str
) -> None:
    assert _plan(connection, name) == [f"SEARCH seat USING INDEX seat_unrecorded ({terms})"]


def test_the_first_change_is_sought_among_recorded_rows_by_time_and_among_all_others(
    connection: apsw.Connection,
) -> None:
    steps = _plan(connection, "results.first_changed")
    assert [step for step in steps if step.startswith("SEARCH seat")] == [
        "SEARCH seat USING INDEX seat_changed (partner_id=? AND environment=? AND updated_at>?)",
        "SEARCH seat USING INDEX seat_unrecorded (partner_id=? AND environment=? AND status=?)",
    ]


@pytest.mark.parametrize("name", ["results.count_changed", "results.first_changed"])
def test_recorded_rows_are_counted_and_their_first_is_found_in_the_index_alone(
    connection: apsw.Connection, name: str
) -> None:
    """SQLite reads a row of the table only when a step reads a column of it."""
    steps = _explained(connection, name, "explain")
    names = dict(connection.execute("select rootpage, name from sqlite_master"))
    cursors = {row[2]: names[row[3]] for row in steps if row[1] == "OpenRead"}
    table_of = {row[2]: row[4] for row in steps if row[1] == "DeferredSeek"}
    (index,) = (cursor for cursor, opened_on in cursors.items() if opened_on == "seat_changed")
    assert cursors[table_of[index]] == "seat"
    read = {row[2] for row in steps if row[1] == "Column"}
    assert table_of[index] not in read


def _history(rows: int) -> list[Seat]:
    """Return seats of as many seconds: paid ones, and at last 30 unpaid and 30 running ones."""
    return [
        seat(
            number,
            player_id=f"p{number % 500}",
            partner_ref=f"r{number % 500}",
            status="matched" if number > rows - 30 else "ended",
            match_id=f"mat_{number}",
            position=number,
            updated_at=number,
            rake_usd_cents=None if number > rows - 60 else 20,
        )
        for number in range(1, rows + 1)
    ]


@pytest.mark.postgres
@pytest.mark.slow
async def test_postgresql_finds_changed_running_and_named_seats_without_reading_the_history(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    rows = 5_000
    history = _history(rows)
    database = PostgresDatabase(url, tmp_path, inline=True)
    for first in range(0, rows, 500):
        stmts = (insert_seat(each) for each in history[first : first + 500])
        assert await commit(database, *stmts) is Outcome.COMMITTED
    database.close()
    operator.execute("vacuum analyze")
    lately = {"since": rows - 200, "until": rows - 100}
    asked = {"player_id": "p490", "partner_ref": "r490", "before": rows, "page_size": 10}
    asked |= {"first_block": rows // 256 - 3, "last_block": rows // 256, "first_seq": rows - 1_000}
    both = {"seat_changed", "seat_unrecorded"}
    for name, indexes in (
        ("results.first_changed", both),
        ("results.count_changed", {"seat_changed"}),
        ("results.changed", {"seat_changed"}),
        ("seats.seats_in_play", {"seat_unrecorded"}),
        ("moves.running_seats_of_player", {"seat_unrecorded"}),
        ("support.matches_of_player", {"seat_player"}),
        ("support.matches_by_reference", {"seat_reference"}),
        ("support.matches_unrecorded", {"seat_unrecorded"}),
        ("support.matches_of_player_unrecorded", {"seat_unrecorded"}),
        ("support.matches_by_reference_unrecorded", {"seat_unrecorded"}),
    ):
        statement = STATEMENTS[name]
        values = statement.values({"partner_id": "acme", "environment": "test", **lately, **asked})
        sql = statement.text.replace("?", "%s")
        plan = "\n".join(row[0] for row in operator.execute(f"explain {sql}", values))
        of_seats = ("seat_unrecorded", "seat_position", "seat_idempotency", *ENTERED_WHEN_PAID)
        named = {index for index in of_seats if index in plan}
        assert named == indexes, plan
        assert "Seq Scan" not in plan
