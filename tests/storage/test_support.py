"""What is read for support: a page of matches with their seats."""

from collections.abc import Awaitable, Callable, Iterator

import apsw
import pytest

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


@pytest.fixture(scope="module")
def history() -> Iterator[apsw.Connection]:
    """A database with seats of one partner: most of them in matches, some with a reference."""
    connection = opened(":memory:", 0)
    migrate(connection)
    insert = STATEMENTS["seats.insert_seat"]
    for number in range(1, SEATS + 1):
        seat = pending_seat(
            number,
            environment="test" if number % 11 else "live",
            seat_id=f"sea_{number}",
            player_id="ann" if number in (1, 256, 1_700, SEATS) else f"player-{number % 3}",
            partner_ref=f"ref-{number % 400}" if number % 2 else None,
            match_id=f"mat_{number}" if number % 5 else None,
            side=number % 2 if number % 7 else None,
        )
        connection.execute(insert.text, insert.values(seat))
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
    ],
)
def test_a_list_of_matches_reads_only_the_rows_that_it_wants_from_each_block(
    connection: apsw.Connection, name: str, terms: str
) -> None:
    statement = STATEMENTS[name]
    nothing = [0] * statement.text.count("?")
    steps = [row[3] for row in connection.execute(f"explain query plan {statement.text}", nothing)]
    assert f"SEARCH seat USING INDEX {terms}" in steps


def test_a_new_seat_has_its_place_near_the_end_of_every_index_of_support(
    connection: apsw.Connection,
) -> None:
    for name in ("seat_player", "seat_reference"):
        ((sql,),) = connection.execute("select sql from sqlite_master where name = ?", (name,))
        assert f"(partner_id, environment, (seq / {BLOCK}), " in sql
