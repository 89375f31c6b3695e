"""Heads whose last final day lies before a day are listed in pages, for the chore of the days."""

import pytest

from pgs.domain.environments import Environment
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.seats import Head
from tests.storage.played import commit

PLACES: list[tuple[str, Environment]] = [
    ("acme", "live"),
    ("acme", "test"),
    ("bravo", "live"),
    ("bravo", "test"),
    ("cargo", "test"),
]
FINAL = dict(zip(PLACES, (0, 100, 99, 101, 50), strict=True))


@pytest.fixture
async def database(database: Database) -> Database:
    for (partner_id, environment), day in FINAL.items():
        head = Head(seat_seq=1, final_day=day)
        await commit(database, rows.move_head(partner_id, environment, Head(), head))
    return database


@pytest.mark.parametrize("size", [1, 2, 3, 99])
@pytest.mark.parametrize("day", [0, 1, 99, 100, 101, 102])
async def test_pages_list_the_partners_whose_day_is_not_final_each_once(
    day: int, size: int, database: Database
) -> None:
    found: list[tuple[str, Environment]] = []
    while page := await rows.heads_before(
        database.reader, day, found[-1] if found else ("", "live"), size
    ):
        assert len(page) <= size
        found += page
    assert found == [place for place in PLACES if FINAL[place] < day]


async def test_every_field_of_a_head_is_read_as_it_was_written(database: Database) -> None:
    head = Head(1, 2, 3, "hash", 4)
    await commit(database, rows.move_head("delta", "test", Head(), head))
    assert await rows.find_head(database.reader, "delta", "test") == head
    assert await rows.find_head(database.reader, "delta", "live") == Head()
