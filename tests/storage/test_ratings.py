"""Ratings are stored in rows and read back."""

import msgspec
import pytest

from pgs.domain.ratings import UNRATED, Rating
from pgs.storage import ratings as rows
from pgs.storage.database import Database
from pgs.storage.seats import insert_seat
from pgs.storage.transactions import Outcome, Tx
from tests.making import seat

FIRST = Rating(27_000_000, 8_000_000, 1, "bob")


async def save(database: Database, was: Rating, rating: Rating, partner: str = "acme") -> Outcome:
    return await database.writer.submit(
        Tx(partner, (rows.save_rating(partner, "live", "chess", "alice", was, rating),))
    )


async def find(
    database: Database, partner: str = "acme", game: str = "chess", player: str = "alice"
) -> Rating:
    return await rows.find_rating(database.reader, partner, "live", game, player)


async def test_a_rating_is_read_as_it_was_saved_and_others_stay_unrated(
    database: Database,
) -> None:
    assert await save(database, UNRATED, FIRST) is Outcome.COMMITTED
    assert await find(database) == FIRST
    assert (
        await find(database, "other")
        == await find(database, game="reversi")
        == await find(database, player="bob")
        == UNRATED
    )
    second = Rating(26_000_000, 7_900_000, 2, "carol")
    assert await save(database, FIRST, second) is Outcome.COMMITTED
    assert await find(database) == second


@pytest.mark.parametrize("was", [UNRATED, Rating(1, 1, 2)])
async def test_saving_a_rating_that_another_match_has_changed_conflicts(
    was: Rating, database: Database
) -> None:
    await save(database, UNRATED, FIRST)
    assert await save(database, was, Rating(1, 1, was.matches + 1)) is Outcome.CONFLICT
    assert await find(database) == FIRST


async def test_partners_with_two_live_seats_in_one_pool_have_seats_to_pair(
    database: Database,
) -> None:
    async def sit(
        number: int,
        partner: str,
        environment: str = "live",
        status: str = "waiting",
        **more: object,
    ) -> None:
        one = msgspec.structs.replace(
            seat(number), partner_id=partner, environment=environment, status=status, **more
        )
        await database.writer.submit(Tx(partner, (insert_seat(one),)))

    for number in (1, 2, 3, 4):
        # This partner has two pools with two seats each, and is listed once.
        await sit(number, "crowd", **({} if number < 3 else {"game_id": "chess"}))
        await sit(number, "tester", "test")
        await sit(number, "paid", status="pending")
        await sit(number, "spread", tier_revision=number)
    await sit(1, "lonely")
    await sit(2, "lonely", status="ended")
    assert await rows.partners_with_seats_to_pair(database.reader) == ["crowd"]
