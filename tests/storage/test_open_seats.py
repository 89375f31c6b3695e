"""Which seats that are in no match yet the queries find, and in which order."""

import pytest

from pgs.storage import open_seats as rows
from pgs.storage.database import Database
from pgs.storage.seats import insert_seat
from tests.making import seat
from tests.storage.committing import commit


async def test_open_seats_are_in_the_order_of_players_and_numbers(database: Database) -> None:
    statuses = ["waiting", "pending", "declined", "matched", "waiting", "ended", "no_contest"]
    await commit(
        database,
        *(
            insert_seat(seat(number, status=status, player_id="ann" if number > 3 else "ben"))
            for number, status in enumerate(statuses, start=1)
        ),
        insert_seat(seat(20, environment="live")),
        insert_seat(seat(21, partner_id="other", player_id="ann")),
    )
    found = await rows.open_seats(database.reader, "acme", "test", None, rows.FIRST_PLACE, 9)
    assert ([one.seq for one in found.seats], found.last) == ([5, 1, 2], None)
    of_ben = await rows.open_seats_of_player(
        database.reader, "acme", "test", "ben", rows.FIRST_PLACE, 1
    )
    assert ([one.seq for one in of_ben.seats], of_ben.last) == ([1], ("ben", 1))


async def test_a_page_of_a_reference_reads_a_bounded_number_of_seats(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SCANNED_FOR_PAGE", 2)
    await commit(
        database,
        *(
            insert_seat(seat(number, player_id="ann", partner_ref="cart" if number == 4 else None))
            for number in range(1, 5)
        ),
    )
    first = await rows.open_seats(database.reader, "acme", "test", "cart", rows.FIRST_PLACE, 9)
    assert (first.seats, first.last) == ([], ("ann", 2))
    second = await rows.open_seats(database.reader, "acme", "test", "cart", ("ann", 2), 9)
    assert ([one.seq for one in second.seats], second.last) == ([4], None)
