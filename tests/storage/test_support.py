"""What is read for support: a page of matches with their seats."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import apsw
import pytest

from pgs.domain.seats import Seat
from pgs.storage.columns import IDS_AT_ONCE, NEWEST, ids_of
from pgs.storage.database import Database
from pgs.storage.migrations import migrate
from pgs.storage.queries import STATEMENTS
from pgs.storage.reader import Query, Row
from pgs.storage.seats import Head, find_match_with_seats, move_head
from pgs.storage.sqlite.reader import SqliteReader
from pgs.storage.sqlite_driver import opened
from pgs.storage.support import (
    BLOCK,
    matches_before,
    matches_by_reference,
    matches_of_player,
    matches_with_seats,
)
from tests.making import pending_seat
from tests.storage.played import Played
from tests.storage.statements import sql_of


async def test_a_page_has_the_matches_in_the_order_asked_for_as_single_reads_show_them(
    database: Database,
) -> None:
    play = Played(database)
    made = [await play.match("ann", 1_000), await play.alone(1_001), await play.start(1_002)]
    await Played(database, "other").start(1_003)
    ids = [one.match.match_id for one in made]
    asked = [ids[2], "mat_unknown", ids[0], ids[1]]
    found = await matches_with_seats(database.reader, "acme", asked)
    alone = [await find_match_with_seats(database.reader, "acme", match_id) for match_id in asked]
    assert found == [one for one in alone if one is not None]
    assert [one.match.match_id for one in found] == [ids[2], ids[0], ids[1]]
    assert await matches_with_seats(database.reader, "acme", []) == []


async def test_a_page_takes_two_queries_for_each_hundred_matches(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = await Played(database).start(1_000)
    reader = database.reader
    asked: list[object] = []
    together = reader.together

    async def counted(*queries: Query) -> list[list[Row]]:
        asked.extend(queries)
        return await together(*queries)

    monkeypatch.setattr(reader, "together", counted)
    for count, queries in ((1, 2), (IDS_AT_ONCE, 2), (IDS_AT_ONCE + 1, 4)):
        asked.clear()
        ids = [f"mat_none_{number}" for number in range(count - 1)] + [started.match.match_id]
        found = await matches_with_seats(reader, "acme", ids)
        assert [one.match for one in found] == [started.match]
        assert len(asked) == queries


@pytest.mark.parametrize("name", ["support.matches_by_id", "support.seats_by_match"])
def test_the_matches_are_found_by_their_ids(connection: apsw.Connection, name: str) -> None:
    params = {"partner_id": "acme", **ids_of([])}
    (step,) = [row[3] for row in connection.execute(f"explain query plan {sql_of(name)}", params)]
    assert step.startswith("SEARCH")
    assert "(match_id=? AND partner_id=?)" in step


SEATS = 3_000  # more than fit into the blocks that are read first


def _seat(number: int) -> Seat:
    """Return a seat that waits, or one whose match runs, has ended, or is paid."""
    place: dict[str, Any] = {}
    if number % 5:
        status = ("matched", "ended", "no_contest")[number // 5 % 3]
        paid = status != "matched" and number % 13 < 9
        side = number % 2 if number % 7 else None
        place = {"match_id": f"mat_{number}", "side": side, "status": status}
        place["rake_usd_cents"] = number % 3 if paid else None
    return pending_seat(
        number,
        environment="test" if number % 11 else "live",
        seat_id=f"sea_{number}",
        player_id="ann" if number in (1, 256, 1_700, SEATS) else f"player-{number % 3}",
        partner_ref=f"ref-{number % 400}" if number % 2 else None,
        **place,
    )


@pytest.fixture(scope="module")
def history() -> Iterator[apsw.Connection]:
    """A database with seats of one partner: most of them in matches, some with a reference."""
    connection = opened(":memory:", 0)
    migrate(connection)
    insert = STATEMENTS["seats.insert_seat"]
    for number in range(1, SEATS + 1):
        connection.execute(insert.text, insert.values(_seat(number)))
    head = move_head("acme", "test", Head(), Head(seat_seq=SEATS))
    connection.execute(STATEMENTS[head.name].text, STATEMENTS[head.name].values(head.params))
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("find", "wanted", "asked"),
    [
        (matches_before, "coalesce(side, 0) = 0", []),
        (matches_of_player, "player_id = 'ann'", ["ann"]),
        (matches_of_player, "player_id = 'player-1'", ["player-1"]),
        (matches_of_player, "player_id = 'nobody'", ["nobody"]),
        (matches_by_reference, "partner_ref = 'ref-7'", ["ref-7"]),
    ],
)
async def test_the_pages_of_a_list_have_each_match_once_and_the_newest_first(
    history: apsw.Connection,
    find: Callable[..., Awaitable[list[tuple[int, str]]]],
    wanted: str,
    asked: list[str],
) -> None:
    reader = SqliteReader(history)
    before, found = NEWEST, list[tuple[int, str]]()
    while page := await find(reader, "acme", "test", *asked, before, 17):
        assert len(page) <= 17
        found += page
        before = page[-1][0]
    plain = "select seq, match_id from seat where environment = 'test' and match_id is not null"
    in_order = "order by seq desc"
    assert found == history.execute(f"{plain} and {wanted} {in_order}").fetchall()
    assert bool(found) != (asked == ["nobody"])


async def test_the_lists_have_a_match_while_it_runs_once_it_has_ended_and_once_it_is_paid(
    database: Database,
) -> None:
    play = Played(database)
    await play.seat(1_000, player_id="ann", partner_ref="order")
    running = await play.start(1_000, partner_ref="order")
    match_id = running.match.match_id
    first, second = sorted((seat.seq, seat.player_id) for seat in running.seats)
    (moves_first,) = [seat.seq for seat in running.seats if seat.side == 0]

    async def check() -> None:
        reader, both = database.reader, [(second[0], match_id), (first[0], match_id)]
        assert await matches_before(reader, "acme", "test", NEWEST, 10) == [(moves_first, match_id)]
        for seq, player_id in (first, second):
            found = await matches_of_player(reader, "acme", "test", player_id, NEWEST, 10)
            assert found == [(seq, match_id)]
        for before, expected in ((NEWEST, both), (second[0], both[1:]), (first[0], [])):
            found = await matches_by_reference(reader, "acme", "test", "order", before, 10)
            assert found == expected

    await check()
    ended = await play.end(running, "ann", 1_001)
    await check()
    await play.pay(ended, 1_002)
    await check()


async def test_a_seat_that_is_paid_while_a_list_is_read_is_in_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each read, the oldest unpaid seat, the middle one and the newest one are paid."""
    connection = opened(":memory:", 0)
    migrate(connection)
    insert = STATEMENTS["seats.insert_seat"]
    seats = range(1, 12 * BLOCK, 30)
    for number in seats:
        place = {"match_id": f"mat_{number}", "side": 0, "status": "matched", "player_id": "ann"}
        running = pending_seat(number, partner_ref="order", **place)
        connection.execute(insert.text, insert.values(running))
    head = move_head("acme", "test", Head(), Head(seat_seq=seats[-1]))
    connection.execute(STATEMENTS[head.name].text, STATEMENTS[head.name].values(head.params))
    reader, unpaid = SqliteReader(connection), list(seats)

    def pay_three() -> None:
        for number in (unpaid.pop(0), unpaid.pop(len(unpaid) // 2), unpaid.pop()):
            sql = "update seat set status = 'ended', rake_usd_cents = 0 where seq = ?"
            connection.execute(sql, (number,))

    def then_pay(read: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def read_and_pay(*args: Any, **params: Any) -> Any:
            rows = await read(*args, **params)
            pay_three()
            return rows

        return read_and_pay

    for name in ("all", "together"):
        monkeypatch.setattr(reader, name, then_pay(getattr(reader, name)))
    finds: list[tuple[Callable[..., Awaitable[list[tuple[int, str]]]], list[str]]] = [
        (matches_before, []),
        (matches_of_player, ["ann"]),
        (matches_by_reference, ["order"]),
    ]
    for find, asked in finds:
        before, found = NEWEST, list[tuple[int, str]]()
        while page := await find(reader, "acme", "test", *asked, before, 60):
            found += page
            before = page[-1][0]
        assert found == [(number, f"mat_{number}") for number in reversed(seats)]
    assert unpaid
    connection.close()


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("support.matches", "seat_player (partner_id=? AND environment=? AND <expr>=?)"),
        (
            "support.matches_of_player",
            "seat_player (partner_id=? AND environment=? AND <expr>=? AND player_id=?)",
        ),
        (
            "support.matches_by_reference",
            "seat_reference (partner_id=? AND environment=? AND <expr>=? AND partner_ref=?)",
        ),
        (
            "support.matches_unrecorded",
            "seat_unrecorded (partner_id=? AND environment=? AND status=?)",
        ),
        (
            "support.matches_of_player_unrecorded",
            "seat_unrecorded (partner_id=? AND environment=? AND status=? AND player_id=? "
            "AND seq>? AND seq<?)",
        ),
        (
            "support.matches_by_reference_unrecorded",
            "seat_unrecorded (partner_id=? AND environment=? AND status=?)",
        ),
    ],
)
def test_a_list_of_matches_reads_only_the_rows_that_it_wants_from_each_block(
    connection: apsw.Connection, name: str, terms: str
) -> None:
    statement = STATEMENTS[name]
    nothing = [0] * statement.text.count("?")
    steps = [row[3] for row in connection.execute(f"explain query plan {statement.text}", nothing)]
    assert f"SEARCH seat USING INDEX {terms}" in steps


def test_a_paid_seat_has_its_place_near_the_end_of_every_index_of_support(
    connection: apsw.Connection,
) -> None:
    for name in ("seat_player", "seat_reference"):
        ((sql,),) = connection.execute("select sql from sqlite_master where name = ?", (name,))
        assert f"(partner_id, environment, (seq / {BLOCK}), " in sql
