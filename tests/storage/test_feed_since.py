"""Where the feed begins for a time: at the first row that changed then or later."""

from itertools import product
from random import Random
from typing import Literal

import msgspec
import pytest

from pgs.domain.days import day_of, start_of
from pgs.domain.seats import SeatStatus
from pgs.storage.database import Database
from pgs.storage.seats import find_head, insert_seat, position_since
from pgs.storage.transactions import Outcome
from tests.feed import feed_page
from tests.making import seat
from tests.storage.committing import commit
from tests.storage.played import Played

AT = start_of(day_of(1_800_000_000))

State = Literal["running", "ended", "recorded"]
STATES: tuple[State, ...] = ("running", "ended", "recorded")
"""A match that runs, one that has ended and is not paid, and one whose money is recorded."""


async def _match(play: Played, state: State, at: int) -> list[str]:
    """Add a match in a state that it reached at a time, and return the ids of its seats."""
    found = await play.start(at)
    if state != "running":
        found = await play.end(found, "ann", at)
    if state == "recorded":
        found = await play.pay(found, at)
    return [seat.seat_id for seat in found.seats]


async def _seats_since(database: Database, since: int) -> list[str]:
    """Return the ids of the seats that a partner reads who asks for the changes since a time."""
    after = await position_since(database.reader, "acme", "test", since)
    return [each.seat_id for each in await feed_page(database.reader, "acme", "test", after, 100)]


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


@pytest.mark.parametrize("state", STATES)
async def test_a_row_is_found_whether_its_match_runs_has_ended_or_is_paid(
    database: Database, state: State
) -> None:
    play = Played(database)
    for earlier in STATES:
        await _match(play, earlier, AT)
    changed = await _match(play, state, AT + 100)
    assert await _seats_since(database, AT + 1) == changed
    assert await _seats_since(database, AT + 100) == changed
    assert await _seats_since(database, AT + 101) == []
    head = await find_head(database.reader, "acme", "test")
    assert await position_since(database.reader, "acme", "test", AT + 101) == head.feed_position
    assert len(await _seats_since(database, AT)) == 8


@pytest.mark.parametrize(("first", "second"), list(product(STATES, STATES)))
async def test_the_first_of_two_rows_is_found_in_whichever_state_each_of_them_is(
    database: Database, first: State, second: State
) -> None:
    play = Played(database)
    older = await _match(play, first, AT)
    newer = await _match(play, second, AT + 10)
    assert await _seats_since(database, AT) == older + newer
    assert await _seats_since(database, AT + 1) == newer


@pytest.mark.parametrize(("first", "second"), list(product(STATES, STATES)))
async def test_a_clock_that_went_back_hides_no_row_in_whichever_state_it_is(
    database: Database, first: State, second: State
) -> None:
    play = Played(database)
    ahead = await _match(play, first, AT + 100)
    behind = await _match(play, second, AT)
    assert await _seats_since(database, AT + 50) == ahead + behind
    last = await _match(play, second, AT + 60)
    assert await _seats_since(database, AT + 50) == ahead + behind + last
    assert await _seats_since(database, AT + 101) == []


@pytest.mark.parametrize("seed", range(3))
async def test_of_rows_in_any_order_of_time_the_least_position_is_found(
    database: Database, seed: int
) -> None:
    chance = Random(seed)
    kinds: list[tuple[SeatStatus, bool]] = [("matched", False)]
    kinds += [(status, paid) for status in ("ended", "no_contest") for paid in (False, True)]
    changed: list[tuple[int, int]] = []
    stmts = []
    for number in range(1, 41):
        status, is_paid = chance.choice(kinds)
        position, at = 3 * number + chance.randrange(3), chance.randrange(30)
        changed.append((at, position))
        made = seat(
            number,
            status=status,
            match_id=f"mat_{number}",
            position=position,
            updated_at=at,
            rake_usd_cents=20 if is_paid else None,
        )
        stmts.append(insert_seat(made))
    stmts.append(insert_seat(seat(50, updated_at=99)))  # it waits, so it is not in the feed
    for number, place in ((51, {"environment": "live"}), (52, {"partner_id": "other"})):
        foreign = seat(number, status="matched", match_id="mat_x", position=1, updated_at=99)
        stmts.append(insert_seat(msgspec.structs.replace(foreign, **place)))
    assert await commit(database, *stmts) is Outcome.COMMITTED
    for since in range(31):
        least = min((position for at, position in changed if at >= since), default=1)
        found = await position_since(database.reader, "acme", "test", since)
        assert found == least - 1, since
