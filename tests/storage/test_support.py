"""What is read for support: a page of matches with their seats."""

import sqlite3

import pytest

from pgs.storage.columns import IDS_AT_ONCE, ids_of
from pgs.storage.database import Database
from pgs.storage.reader import Query, Row
from pgs.storage.seats import find_match_with_seats
from pgs.storage.support import matches_with_seats
from tests.storage.played import Played
from tests.storage.statements import sql_of


async def test_a_page_of_matches_is_as_each_of_them_read_alone_in_the_order_asked_for(
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


async def test_a_page_costs_two_queries_and_a_longer_one_two_more_for_each_hundred(
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
def test_the_matches_are_found_by_their_ids(connection: sqlite3.Connection, name: str) -> None:
    params = {"partner_id": "acme", **ids_of([])}
    (step,) = [row[3] for row in connection.execute(f"explain query plan {sql_of(name)}", params)]
    assert step.startswith("SEARCH")
    assert "(partner_id=? AND match_id=?)" in step
