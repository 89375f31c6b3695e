"""Totals are raised row by row, and read by day and by tier."""

import msgspec
import pytest

from pgs.domain.days import day_of, start_of
from pgs.domain.environments import Environment
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage.database import Database
from pgs.storage.totals import (
    first_open_day,
    raise_totals,
    totals_by_day,
    totals_by_tier,
)
from pgs.storage.transactions import Outcome
from tests.storage.played import Played, commit

DAY = day_of(1_800_000_000)
AT = start_of(DAY)
FIELDS = Totals.__struct_fields__
NUMBERED = Totals(*range(1, len(FIELDS) + 1))


async def _raise(
    database: Database,
    day: int,
    change: Totals,
    *,
    game: str = "chess",
    tier: str = "gold",
    partner_id: str = "acme",
    environment: Environment = "test",
) -> None:
    stmt = raise_totals(partner_id, environment, TotalsKey(day, game, tier), change)
    assert await commit(database, stmt) is Outcome.COMMITTED


async def test_every_figure_is_read_as_it_was_written(database: Database) -> None:
    await _raise(database, DAY, NUMBERED)
    assert await totals_by_day(database.reader, "acme", "test", DAY, DAY) == {DAY: NUMBERED}
    by_tier = await totals_by_tier(database.reader, "acme", "test", DAY, DAY)
    assert by_tier == {("chess", "gold"): NUMBERED}


async def test_a_change_is_added_to_the_row_that_is_there(database: Database) -> None:
    for change in (NUMBERED, NUMBERED, Totals(matches=5)):
        await _raise(database, DAY, change)
    found = await totals_by_day(database.reader, "acme", "test", DAY, DAY)
    assert found == {DAY: NUMBERED + NUMBERED + Totals(matches=5)}


@pytest.mark.parametrize("name", FIELDS)
async def test_a_change_of_one_figure_leaves_the_others(name: str, database: Database) -> None:
    await _raise(database, DAY, NUMBERED)
    await _raise(database, DAY, Totals(**{name: 7}))
    (found,) = (await totals_by_day(database.reader, "acme", "test", DAY, DAY)).values()
    assert found == msgspec.structs.replace(NUMBERED, **{name: getattr(NUMBERED, name) + 7})


async def test_a_range_has_both_its_ends_and_only_days_with_play(database: Database) -> None:
    for day in (DAY - 2, DAY, DAY + 1, DAY + 3):
        await _raise(database, day, Totals(matches=day))
    for first, last, found in (
        (DAY, DAY + 1, [DAY, DAY + 1]),
        (DAY - 2, DAY + 3, [DAY - 2, DAY, DAY + 1, DAY + 3]),
        (DAY - 1, DAY - 1, []),
        (DAY + 1, DAY, []),
    ):
        totals = await totals_by_day(database.reader, "acme", "test", first, last)
        assert list(totals.items()) == [(day, Totals(matches=day)) for day in found]


async def test_a_day_sums_its_games_and_tiers_and_a_tier_sums_its_days(database: Database) -> None:
    number = 0
    for day in (DAY, DAY + 1):
        for game in ("reversi", "chess"):
            for tier in ("silver", "gold"):
                number += 1
                await _raise(database, day, Totals(matches=number), game=game, tier=tier)
    by_day = await totals_by_day(database.reader, "acme", "test", DAY, DAY + 1)
    assert by_day == {DAY: Totals(matches=1 + 2 + 3 + 4), DAY + 1: Totals(matches=5 + 6 + 7 + 8)}
    by_tier = await totals_by_tier(database.reader, "acme", "test", DAY, DAY + 1)
    assert [(of, totals.matches) for of, totals in by_tier.items()] == [
        (("chess", "gold"), 4 + 8),
        (("chess", "silver"), 3 + 7),
        (("reversi", "gold"), 2 + 6),
        (("reversi", "silver"), 1 + 5),
    ]
    only = await totals_by_tier(database.reader, "acme", "test", DAY + 1, DAY + 1)
    assert only["chess", "gold"] == Totals(matches=8)


async def test_other_partners_and_environments_are_left_out(database: Database) -> None:
    await _raise(database, DAY, Totals(seats=1))
    await _raise(database, DAY, Totals(seats=2), environment="live")
    await _raise(database, DAY, Totals(seats=4), partner_id="bravo")
    places: list[tuple[str, Environment, int]] = [
        ("acme", "test", 1),
        ("acme", "live", 2),
        ("bravo", "test", 4),
        ("bravo", "live", 0),
    ]
    for partner_id, environment, seats in places:
        of = database.reader, partner_id, environment
        figures = [Totals(seats=seats)] if seats else []
        assert list((await totals_by_day(*of, DAY, DAY)).values()) == figures
        assert list((await totals_by_tier(*of, DAY, DAY)).values()) == figures


async def test_a_day_is_open_until_the_money_of_all_its_seats_is_recorded(
    database: Database,
) -> None:
    async def is_open_from(after: int = 0) -> int | None:
        return await first_open_day(database.reader, "acme", "test", after)

    play = Played(database)
    assert await is_open_from() is None
    await play.match("ann", AT - 86_400)
    assert await is_open_from() is None
    late = await play.start(AT + 86_399)
    early = await play.start(AT)
    later = await play.start(AT + 86_400)
    assert await is_open_from() == DAY
    late = await play.pay(await play.end(late, "bob", AT + 2 * 86_400), AT + 3 * 86_400)
    assert late.match.money == "recorded"
    assert await is_open_from() == DAY
    due = await play.end(early, None, AT + 100)
    assert await is_open_from() == DAY
    await play.pay(due, AT + 200)
    assert await is_open_from() == DAY + 1
    assert await is_open_from(DAY) == DAY + 1
    assert await is_open_from(DAY + 1) is None
    await play.pay(await play.end(later, "ann", AT + 90_000, contest=False), AT + 90_000)
    assert await is_open_from() is None


async def test_one_open_tier_of_many_makes_its_day_open(database: Database) -> None:
    paid = Totals(
        seats=2, seat_stakes_usd_cents=200, seat_payouts_usd_cents=180, seat_rake_usd_cents=20
    )
    refunded = Totals(seats=1, seat_stakes_usd_cents=100, seat_refunds_usd_cents=100)
    for tier, row in (
        ("a", paid),
        ("b", refunded),
        ("c", paid + refunded),
        ("d", Totals(matches=1)),
    ):
        await _raise(database, DAY, row, tier=tier)
    assert await first_open_day(database.reader, "acme", "test", 0) is None
    await _raise(database, DAY, Totals(seats=1, seat_stakes_usd_cents=1), tier="c")
    assert await first_open_day(database.reader, "acme", "test", 0) == DAY
    assert await first_open_day(database.reader, "acme", "live", 0) is None


async def test_play_raises_the_totals_of_the_days_of_its_seats_and_its_end(
    database: Database,
) -> None:
    play = Played(database)
    running = await play.start(AT - 1, stakes=(150, 110), prize=200)
    await play.pay(await play.end(running, "bob", AT + 5), AT + 86_400)
    await play.alone(AT + 6, stake_usd_cents=30)
    assert await totals_by_day(database.reader, "acme", "test", DAY - 1, DAY + 1) == {
        DAY - 1: Totals(
            seats=2,
            seat_stakes_usd_cents=260,
            seat_payouts_usd_cents=200,
            seat_rake_usd_cents=60,
        ),
        DAY: Totals(
            matches=1,
            no_contests=1,
            match_seats=3,
            match_stakes_usd_cents=290,
            match_payouts_usd_cents=200,
            match_refunds_usd_cents=30,
            match_rake_usd_cents=60,
            seats=1,
            seats_refunded=1,
            seat_stakes_usd_cents=30,
            seat_refunds_usd_cents=30,
        ),
    }
