"""Where the feed begins for a time: at the first row that changed then or later."""

from pgs.domain.days import day_of, start_of
from pgs.storage.database import Database
from pgs.storage.seats import position_since
from tests.feed import feed_page
from tests.storage.played import Played

AT = start_of(day_of(1_800_000_000))


async def test_a_row_that_changed_again_is_found_at_its_new_place(database: Database) -> None:
    play = Played(database)
    first = await play.start(AT, players=("ann", "bob"))
    await play.start(AT + 10, players=("cleo", "dan"))
    await play.end(first, "ann", AT + 20)

    async def players_since(since: int) -> list[str]:
        after = await position_since(database.reader, "acme", "test", since)
        page = await feed_page(database.reader, "acme", "test", after, 10)
        return [seat.player_id for seat in page]

    assert await players_since(0) == ["cleo", "dan", "ann", "bob"]
    assert await players_since(AT + 10) == ["cleo", "dan", "ann", "bob"]
    assert await players_since(AT + 11) == ["ann", "bob"]
    assert await players_since(AT + 21) == []


async def test_rows_that_changed_while_the_clock_stood_back_are_not_missed(
    database: Database,
) -> None:
    play = Played(database)
    await play.start(AT + 100, players=("ann", "bob"))
    await play.start(AT, players=("cleo", "dan"))
    after = await position_since(database.reader, "acme", "test", AT + 50)
    page = await feed_page(database.reader, "acme", "test", after, 10)
    assert [seat.player_id for seat in page] == ["ann", "bob", "cleo", "dan"]


async def test_an_environment_without_rows_begins_at_its_start(database: Database) -> None:
    assert await position_since(database.reader, "acme", "live", AT) == 0
