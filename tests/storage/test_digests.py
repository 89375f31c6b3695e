"""Digests of the rows of the feed that changed last on a day."""

import hashlib

from pgs.domain.days import day_of, start_of
from pgs.storage.database import Database
from pgs.storage.digests import count_changed, digests_by_day
from tests.storage.played import Played

DAY = day_of(1_800_000_000)
AT = start_of(DAY)
EMPTY = hashlib.sha256().hexdigest()


def _digest(*lines: str) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


async def _digests(database: Database, first: int, last: int) -> list[tuple[int, int, str]]:
    return await digests_by_day(database.reader, "acme", "test", first, last)


async def test_days_without_rows_have_the_digest_of_nothing(database: Database) -> None:
    assert await _digests(database, DAY, DAY + 1) == [(DAY, 0, EMPTY), (DAY + 1, 0, EMPTY)]
    assert await count_changed(database.reader, "acme", "test", DAY, DAY + 1) == 0


async def test_a_row_is_hashed_with_its_match_player_outcome_result_and_money(
    database: Database,
) -> None:
    play = Played(database)
    won = (await play.match("ann", AT)).match.match_id
    drawn = (await play.match(None, AT + 1, stakes=(150, 110))).match.match_id
    ended = (await play.match(None, AT + 2, contest=False)).match.match_id
    alone = (await play.alone(AT + 3, player_id="söm|e", stake_usd_cents=77)).match.match_id
    lines = [
        f"{won}|ann|ended|won|180|0|0",
        f"{won}|bob|ended|lost|0|0|20",
        f"{drawn}|ann|ended|drawn|0|150|0",
        f"{drawn}|bob|ended|drawn|0|110|0",
        f"{ended}|ann|no_contest||0|100|0",
        f"{ended}|bob|no_contest||0|100|0",
        f"{alone}|söm|e|no_contest||0|77|0",
    ]
    assert await _digests(database, DAY, DAY) == [(DAY, 7, _digest(*lines))]


async def test_rows_are_hashed_by_match_and_player_in_whatever_order_they_changed(
    database: Database,
) -> None:
    play = Played(database)
    first = await play.start(AT, players=("zoe", "ann"))
    second = await play.start(AT, players=("bob", "al"))
    await play.pay(await play.end(second, "al", AT + 1), AT + 2)
    await play.pay(await play.end(first, "zoe", AT + 3), AT + 4)
    assert first.match.match_id < second.match.match_id
    assert await _digests(database, DAY, DAY) == [
        (
            DAY,
            4,
            _digest(
                f"{first.match.match_id}|ann|ended|lost|0|0|20",
                f"{first.match.match_id}|zoe|ended|won|180|0|0",
                f"{second.match.match_id}|al|ended|won|180|0|0",
                f"{second.match.match_id}|bob|ended|lost|0|0|20",
            ),
        )
    ]


async def test_a_row_belongs_to_the_day_on_which_its_money_was_recorded(database: Database) -> None:
    play = Played(database)
    await play.pay(await play.end(await play.start(AT - 9), "ann", AT - 1), AT - 1)
    await play.pay(await play.end(await play.start(AT - 9), "ann", AT - 1), AT)
    await play.pay(await play.end(await play.start(AT), "ann", AT), AT + 86_399)
    await play.alone(AT + 86_400)
    found = await _digests(database, DAY - 1, DAY + 2)
    assert [(day, count) for day, count, _ in found] == [
        (DAY - 1, 2),
        (DAY, 4),
        (DAY + 1, 1),
        (DAY + 2, 0),
    ]
    for first, last, count in (
        (DAY - 1, DAY - 1, 2),
        (DAY, DAY, 4),
        (DAY, DAY + 1, 5),
        (DAY - 1, DAY + 2, 7),
        (DAY + 2, DAY + 9, 0),
    ):
        assert await count_changed(database.reader, "acme", "test", first, last) == count


async def test_rows_whose_money_is_open_are_left_out(database: Database) -> None:
    play = Played(database)
    await play.seat(AT)
    await play.start(AT)
    await play.end(await play.start(AT), "ann", AT)
    assert await _digests(database, DAY, DAY) == [(DAY, 0, EMPTY)]
    assert await count_changed(database.reader, "acme", "test", DAY, DAY) == 0


async def test_other_partners_and_environments_are_left_out(database: Database) -> None:
    await Played(database, "bravo").match("ann", AT)
    await Played(database, "acme", "live").match("ann", AT)
    assert await _digests(database, DAY, DAY) == [(DAY, 0, EMPTY)]
    assert await count_changed(database.reader, "acme", "test", DAY, DAY) == 0
    assert await count_changed(database.reader, "acme", "live", DAY, DAY) == 2
