"""Which seats, matches and feed rows the queries find, in which order, by which index."""

from random import Random
from typing import Any

import apsw
import msgspec

from pgs.domain.environments import Environment
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.moves import running_seats_of_player
from pgs.storage.sqlite.connections import connect
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.sqlite.reader import SqliteReader
from tests.feed import feed_page
from tests.making import match, seat
from tests.storage.committing import commit


async def test_waiting_open_and_running_seats_are_found_in_order(
    database: Database,
) -> None:
    statuses = [
        "waiting",
        "pending",
        "declined",
        "matched",
        "ended",
        "waiting",
        "no_contest",
        "pending",
    ]
    seats = [
        seat(9 - n, status=status, match_id="mat_1" if status == "matched" else None)
        for n, status in enumerate(statuses, start=1)
    ]
    seats[-1] = msgspec.structs.replace(seats[-1], closing="account_inactive")
    await commit(
        database,
        *(rows.insert_seat(each) for each in seats),
        rows.insert_seat(seat(20, environment="live")),
    )
    assert [each.seq for each in await rows.waiting_seats(database.reader, "acme", "test")] == [
        3,
        8,
    ]
    found = await rows.open_seats_after(database.reader, "acme", "test", rows.OpenSeat(), 10)
    assert [each.seat_id for each in found] == ["sea_003", "sea_007", "sea_008"]
    for last, following in zip(found, [*found[1:], None], strict=True):
        page = await rows.open_seats_after(database.reader, "acme", "test", last, 1)
        assert page == ([following] if following else [])
    assert [
        match_id
        for _, match_id in await running_seats_of_player(database.reader, "acme", "test", "p5", 9)
    ] == ["mat_1"]
    assert await running_seats_of_player(database.reader, "acme", "live", "p5", 9) == []
    matches = [
        match("mat_3"),
        match("mat_1"),
        match("mat_2", status="ended"),
        match("mat_4", environment="live"),
    ]
    await commit(database, *(rows.insert_match(each) for each in matches))
    assert await rows.running_matches_after(database.reader, "acme", "test", "", 10) == [
        "mat_1",
        "mat_3",
    ]
    assert await rows.running_matches_after(database.reader, "acme", "test", "mat_1", 10) == [
        "mat_3"
    ]


async def test_waiting_seats_are_in_the_order_of_their_sequence_numbers(
    database: Database,
) -> None:
    seats = [
        seat(number, seat_id=f"sea_{name}", seated_at=90 - number)
        for number, name in enumerate("cab", start=1)
    ]
    await commit(database, *(rows.insert_seat(each) for each in seats))
    assert await rows.waiting_seats(database.reader, "acme", "test") == seats


async def test_only_running_matches_of_a_player_are_found(database: Database) -> None:
    statuses = ["matched", "ended", "no_contest", "waiting", "pending", "declined", "matched"]
    own = [
        seat(
            9 - n,
            player_id="ann",
            status=status,
            match_id=None if status in ("waiting", "pending", "declined") else f"mat_{n}",
        )
        for n, status in enumerate(statuses, start=1)
    ]
    foreign = [
        seat(20, player_id="ann", status="matched", match_id="mat_20", environment="live"),
        seat(21, player_id="ann", status="matched", match_id="mat_21", partner_id="other"),
        seat(22, player_id="bob", status="matched", match_id="mat_22"),
    ]
    await commit(database, *(rows.insert_seat(each) for each in (*own, *foreign)))
    listed = await running_seats_of_player(database.reader, "acme", "test", "ann", 9)
    assert [match_id for _, match_id in listed] == ["mat_7", "mat_1"]  # the oldest seat first
    assert await running_seats_of_player(database.reader, "acme", "test", "ann", 1) == listed[:1]


async def test_the_feed_has_the_rows_after_a_position_in_order(database: Database) -> None:
    positions = [5, 2, None, 9, 4]
    seats = [seat(n, position=position) for n, position in enumerate(positions, start=1)]
    await commit(
        database,
        *(rows.insert_seat(each) for each in seats),
        rows.insert_seat(seat(7, position=3, environment="live")),
    )

    async def page(after: int, size: int, environment: Environment = "test") -> list[int | None]:
        return [
            each.position
            for each in await feed_page(database.reader, "acme", environment, after, size)
        ]

    assert await page(0, 10) == [2, 4, 5, 9]
    assert await page(0, 2) == [2, 4]
    assert await page(4, 10) == [5, 9]
    assert await page(9, 10) == []
    assert await page(0, 10, "live") == [3]
    assert await rows.feed_page(database.reader, "other", "test", 0, 10) == []


async def test_due_rows_are_found_in_pages_each_once_the_longest_due_first(
    database: Database,
) -> None:
    chance = Random(1)
    seats = [seat(n, due_at=chance.choice([None, 10, 20, 30])) for n in range(1, 60)]
    matches = [match(f"mat_{n:03}", due_at=chance.choice([None, 10, 20, 30])) for n in range(60)]
    await commit(
        database,
        *(rows.insert_seat(each) for each in seats),
        *(rows.insert_match(each) for each in matches),
    )
    for find, ids in (
        (
            rows.due_seats,
            [
                (each.due_at, each.seat_id)
                for each in seats
                if each.due_at is not None and each.due_at <= 20
            ],
        ),
        (
            rows.due_matches,
            [
                (each.due_at, each.match_id)
                for each in matches
                if each.due_at is not None and each.due_at <= 20
            ],
        ),
    ):
        found: list[rows.Due] = []
        while page := await find(database.reader, 20, found[-1] if found else None, 7):
            assert len(page) <= 7
            found += page
        assert [(each.due_at, each.row_id) for each in found] == sorted(ids)
        assert {(each.partner_id, each.environment) for each in found} == {("acme", "test")}


async def test_the_next_due_is_the_earliest_of_seats_and_matches(database: Database) -> None:
    assert await rows.next_due(database.reader) is None
    await commit(database, rows.insert_seat(seat(1)), rows.insert_match(match("mat_0")))
    assert await rows.next_due(database.reader) is None
    await commit(database, rows.insert_match(match("mat_1", due_at=40)))
    assert await rows.next_due(database.reader) == 40
    await commit(database, rows.insert_seat(seat(2, due_at=30)))
    assert await rows.next_due(database.reader) == 30


async def test_every_look_up_uses_an_index(in_file: SqliteDatabase) -> None:
    """The time of a table scan would grow with a partner's history."""
    connection = connect(in_file.path, query_only=True)
    reader = SqliteReader(connection)
    statements: list[str] = []

    def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        statements.append(cursor.expanded_sql)
        return True  # go on

    connection.exec_trace = note
    await rows.find_seat(reader, "acme", "s")
    await rows.find_by_idempotency_key(reader, "acme", "test", "k")
    await rows.waiting_seats(reader, "acme", "test")
    await rows.seats_of_match(reader, "acme", "m")
    await rows.feed_page(reader, "acme", "test", 0, 10)
    await rows.find_head(reader, "acme", "test")
    await rows.find_match(reader, "acme", "m")
    await running_seats_of_player(reader, "acme", "test", "p", 5)
    await rows.due_seats(reader, 10, None, 5)
    await rows.due_matches(reader, 10, None, 5)
    await rows.next_due(reader)
    await rows.open_seats_after(reader, "acme", "test", rows.OpenSeat(), 5)
    await rows.running_matches_after(reader, "acme", "test", "", 5)
    connection.exec_trace = None
    assert len(statements) == 14
    for statement in statements:
        details = [row[3] for row in connection.execute(f"explain query plan {statement}")]
        assert any(detail.startswith("SEARCH") for detail in details), (statement, details)
        if "match_id = 'm'" not in statement:  # a match has only two seats, so sorting is cheap
            assert not any(detail == "USE TEMP B-TREE FOR ORDER BY" for detail in details), (
                statement,
                details,
            )
    reader.close()
