"""A page costs the same in a list of any length. A query of one partner reads no others' rows."""

import re
from itertools import count

import apsw
import pytest

from pgs.storage.migrations import migrate
from pgs.storage.queries import QUERIES
from pgs.storage.sqlite_driver import opened
from tests.storage.statements import sql_of

LISTS = [
    "events.events_page",
    "invites.invites_page",
    "attempts.attempts_before",
    "results.page",
    "ledger.page",
    "invoices.page",
    "invoices.lines",
]

# One day of a partner's history: the index that finds it, and what it is looked up by.
BY_DAY = "partner_id=? AND environment=? AND day>? AND day<?"
ONE_DAY = {
    "totals.by_day": ("sqlite_autoindex_totals_1", BY_DAY),
    "totals.by_tier": ("sqlite_autoindex_totals_1", BY_DAY),
    "totals.first_open_day": (
        "sqlite_autoindex_totals_1",
        "partner_id=? AND environment=? AND day>?",
    ),
    "results.changed": ("seat_changed", BY_DAY.replace("day", "updated_at")),
    "results.count_changed": ("seat_changed", BY_DAY.replace("day", "updated_at")),
    "invoices.matches_of_line": (
        "match_ended",
        "partner_id=? AND environment=? AND (ended_at,match_id)>(?,?) AND ended_at<?",
    ),
}

# The matches of an environment by their time: the index in whose order they are read.
_DECIDED = "partner_id=? AND environment=? AND ended_at>? AND (ended_at,match_id)<(?,?)"
BY_TIME = {
    "support.running_by_time": (
        "match_running",
        "partner_id=? AND environment=? AND match_id>? AND match_id<?",
    ),
    "support.ended_by_time": ("match_ended", _DECIDED),
    "support.no_contest_by_time": ("match_no_contest", _DECIDED),
}

# Pages over all partners: the index in whose order they are read.
OF_ALL_PARTNERS = {
    "invoices.of_all_partners": "invoice_sequence ((partner_id,environment,seq)>(?,?,?))",
    "invoices.partners_with_unbilled": "totals_unbilled ((partner_id,environment)>(?,?))",
    "invoices.drafts": "invoice_draft ((partner_id,environment,month)>(?,?,?))",
    "seats.heads_before": "sqlite_autoindex_head_1 ((partner_id,environment)>(?,?))",
}


def plan_of(connection: apsw.Connection, name: str) -> list[str]:
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql_of(name)))
    return [row[3] for row in connection.execute(f"explain query plan {sql_of(name)}", parameters)]


OF_A_PARTNER = sorted(
    name
    for name in QUERIES
    if re.search(r"\bwhere (\w\.)?partner_id = :partner_id", sql_of(name))
    and name != "ledger.page_of_one"  # only the search for a known fault of a ledger uses it
)
"""The queries and statements of one partner. Queries over all partners have their own tests."""

PAGES = [name for name in OF_A_PARTNER if "limit :page_size" in sql_of(name)]


@pytest.mark.parametrize("name", OF_A_PARTNER)
def test_no_query_of_one_partner_scans_a_table(connection: apsw.Connection, name: str) -> None:
    steps = plan_of(connection, name)
    # `scanned` is the bounded number of rows that a query has read by an index.
    assert [step for step in steps if step.startswith("SCAN") and step != "SCAN scanned"] == []
    assert any(step.startswith("SEARCH") and "partner_id=?" in step for step in steps), steps


@pytest.mark.parametrize("name", PAGES)
def test_no_page_needs_a_sort(connection: apsw.Connection, name: str) -> None:
    assert [step for step in plan_of(connection, name) if "TEMP B-TREE" in step] == []


def test_the_tested_pages_include_the_admin_lists_the_feed_and_the_invoices() -> None:
    assert set(LISTS) - {"ledger.page"} <= set(PAGES)
    assert {"invoices.unbilled", "invoices.matches_of_line"} <= set(PAGES)
    assert set(ONE_DAY) <= set(OF_A_PARTNER)
    assert len(OF_A_PARTNER) > 30


@pytest.mark.parametrize("name", ONE_DAY)
def test_a_query_of_some_days_finds_them_by_an_index(
    connection: apsw.Connection, name: str
) -> None:
    index, terms = ONE_DAY[name]
    assert plan_of(connection, name)[0].endswith(f" INDEX {index} ({terms})")


@pytest.mark.parametrize("name", BY_TIME)
def test_the_matches_of_a_status_and_some_days_are_read_in_the_order_of_an_index(
    connection: apsw.Connection, name: str
) -> None:
    index, terms = BY_TIME[name]
    (step,) = plan_of(connection, name)
    assert step.endswith(f" INDEX {index} ({terms})")
    of_a_game = plan_of(connection, name.replace("by_time", "scanned"))
    (step,) = (step for step in of_a_game if step.startswith("SEARCH"))
    assert step.endswith(f" INDEX {index} ({terms})")


OPEN_SEATS = {
    "support.open_seats": "(player_id,seq)>(?,?)",
    "support.open_seat_places": "(player_id,seq)>(?,?)",
    "support.open_seats_of_player": "player_id=? AND seq>?",
}


@pytest.mark.parametrize("name", OPEN_SEATS)
def test_open_seats_are_read_in_the_order_of_their_index(
    connection: apsw.Connection, name: str
) -> None:
    (step,) = (step for step in plan_of(connection, name) if step.startswith("SEARCH"))
    assert step.endswith(f"INDEX seat_open (partner_id=? AND environment=? AND {OPEN_SEATS[name]})")


@pytest.mark.parametrize("name", OF_ALL_PARTNERS)
def test_a_page_over_all_partners_is_read_in_the_order_of_an_index(
    connection: apsw.Connection, name: str
) -> None:
    (step,) = plan_of(connection, name)
    assert re.search(rf" USING (COVERING )?INDEX {re.escape(OF_ALL_PARTNERS[name])}$", step)


@pytest.mark.parametrize(
    "name",
    [
        "seats.insert_seat",
        "seats.update_seat",
        "seats.update_seat_in_match",
        "seats.move_head",
        "seats.begin_head",
        "matches.insert_match",
        "matches.update_match",
        "ledger.insert_row",
        "totals.raise_seats",
        "totals.raise_totals",
        "moves.put_attendance",
        "moves.insert_move",
    ],
)
def test_no_statement_of_a_launch_or_a_move_fills_a_temporary_table(
    connection: apsw.Connection, name: str
) -> None:
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql_of(name)))
    opcodes = {row[1] for row in connection.execute(f"explain {sql_of(name)}", parameters)}
    assert "Transaction" in opcodes
    assert opcodes.isdisjoint({"OpenEphemeral", "SorterOpen", "OpenAutoindex"})


def test_a_change_of_a_seat_in_a_match_writes_no_index_whose_columns_stay(
    connection: apsw.Connection,
) -> None:
    sql = sql_of("seats.update_seat_in_match")
    parameters = dict.fromkeys(re.findall(r"(?<!:):([a-z_]\w*)", sql))
    steps = connection.execute(f"explain {sql}", parameters).fetchall()
    names = dict(connection.execute("select rootpage, name from sqlite_master"))
    written = {names[row[3]] for row in steps if row[1] == "OpenWrite"}
    found_by = "sqlite_autoindex_seat_1"
    moved = {"seat_open", "seat_unrecorded", "seat_position"}
    when_paid = {"seat_changed", "seat_player", "seat_reference"}
    assert written == {"seat", found_by, *moved, *when_paid}


def test_the_newest_row_of_all_partners_is_found_without_reading_their_histories(
    connection: apsw.Connection,
) -> None:
    steps = plan_of(connection, "heartbeat.newest_row")
    scanned = {step.split()[1] for step in steps if step.startswith("SCAN")}
    assert scanned == {"partner", "head"}


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("invoices.find_month", "invoice_month (partner_id=? AND environment=? AND month=?)"),
        ("invoices.find_line", "invoice_line_id (partner_id=? AND invoice_id=? AND line_id=?)"),
        (
            "invoices.unbilled",
            "totals_unbilled (partner_id=? AND environment=? AND day>? AND day<?)",
        ),
        ("invoices.page", "invoice_sequence (partner_id=? AND environment=? AND seq<?)"),
        (
            "invoices.lines",
            "sqlite_autoindex_invoice_line_1 (partner_id=? AND invoice_id=? AND line>?)",
        ),
    ],
)
def test_an_invoice_its_lines_and_what_is_left_to_bill_are_found_by_an_index(
    connection: apsw.Connection, name: str, index: str
) -> None:
    (step,) = plan_of(connection, name)
    assert step.endswith(f" USING INDEX {index}")


def test_a_page_of_the_ledgers_is_read_in_the_order_of_their_rows(
    connection: apsw.Connection,
) -> None:
    (step,) = plan_of(connection, "ledger.page")
    assert step.endswith(" USING INTEGER PRIMARY KEY (rowid>?)")


def fill(connection: apsw.Connection, table: str, rows: int, **same: object) -> None:
    """Insert rows of one partner into a table, with rising numbers and unique texts.

    `same`: values that all rows have.
    """
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
    fixed |= {"delivered": 0, "test": 0, "resend": 0, "accepted_by": None, "revoked_at": None}
    fixed |= {"kind": "charge", "side": 0, "money": "recorded", **same}
    numbers = count(1)

    def row() -> list[object]:
        number = next(numbers)
        return [
            fixed.get(name, number if kind.lower() in ("bigint", "integer") else f"{name}-{number}")
            for name, kind in columns
        ]

    connection.execute("begin")
    places = ", ".join("?" for _ in columns)
    insert = f"insert into {table} values ({places})"  # noqa: S608 - this test names the table
    connection.executemany(insert, (row() for _ in range(rows)))
    connection.execute("commit")


def steps_of(connection: apsw.Connection, name: str, **parameters: object) -> tuple[int, int]:
    """Return how many steps of SQLite's virtual machine a query takes, and how many rows it has."""
    steps = count()

    def step() -> bool:
        next(steps)
        return False

    needed = {"partner_id": "acme", "environment": "test", **parameters}
    connection.set_progress_handler(step, 1)
    found = len(connection.execute(sql_of(name), needed).fetchall())
    connection.set_progress_handler(None, 1)
    return next(steps), found


# The table of each list, and what all its rows have in common.
FILLED: dict[str, tuple[str, dict[str, object]]] = {
    "events.events_page": ("event", {}),
    "invites.invites_page": ("invite", {}),
    "attempts.attempts_before": ("attempt", {}),
    "results.page": ("seat", {}),
    "ledger.page": ("ledger", {}),
    "invoices.page": ("invoice", {"status": "open"}),
    "invoices.lines": ("invoice_line", {"invoice_id": "inv_1"}),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_page_of_a_long_list_takes_as_many_steps_as_one_of_a_short_list(name: str) -> None:
    """Counts steps of SQLite's virtual machine for the first, a middle and the last page."""
    table, same = FILLED[name]
    taken = []
    for rows in (300, 30_000):
        connection = opened(":memory:", 0)
        migrate(connection)
        fill(connection, table, rows, **same)
        for place in (rows, rows // 2, 150):
            edges = {
                "before": place,
                "after": rows - place,
                "first": rows - place + 1,
                "since": 0,
                "page_size": 100,
                "with_invites": 0,
                "first_month": 0,
                "last_month": rows,
                "status": "",
                "invoice_id": "inv_1",
            }
            steps, found = steps_of(connection, name, **edges)
            assert found >= 99
            taken.append(steps / found)
        connection.close()
    assert max(taken) < 1.1 * min(taken), taken


@pytest.mark.parametrize("name", sorted(set(ONE_DAY) - {"totals.first_open_day"}))
def test_a_day_of_a_long_history_takes_as_many_steps_as_one_of_a_short_history(name: str) -> None:
    """Each row lies on a day, or in a second, of its own: ten rows in the range that is read."""
    tables = {"totals": ["totals"], "results": ["seat"], "invoices": ["match", "seat"]}
    same = {"game_id": "chess", "tier_id": "gold"}
    taken = []
    for rows in (300, 30_000):
        connection = opened(":memory:", 0)
        migrate(connection)
        for table in tables[name.partition(".")[0]]:
            fill(connection, table, rows, **same)
        first = rows // 2
        edges = {"first_day": first, "last_day": first + 9, "since": first, "until": first + 10}
        after = {"after_ended_at": first - 1, "after_match_id": "z", "page_size": 100}
        steps, found = steps_of(connection, name, **edges, **after, **same)
        assert found in (1, 10)  # ten rows, or one row with their sum
        taken.append(steps)
        connection.close()
    assert max(taken) < 1.1 * min(taken), taken


def test_the_first_change_takes_as_many_steps_in_a_long_history_as_in_a_short_one() -> None:
    """Each row changed in a second of its own; the money of the last ten rows is not recorded."""
    taken = []
    for rows in (300, 30_000):
        connection = opened(":memory:", 0)
        migrate(connection)
        fill(connection, "seat", rows)
        connection.execute("update seat set rake_usd_cents = null where seq > ?", (rows - 10,))
        taken.append(steps_of(connection, "results.first_changed", since=rows - 19))
        connection.close()
    assert taken[0] == taken[1]
